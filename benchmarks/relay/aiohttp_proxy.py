"""The ordinary way to write a reverse proxy in Python, for comparison: aiohttp server and client, streaming, nothing else.

``python aiohttp_proxy.py PORT UPSTREAM_PORT``
"""

import sys

import aiohttp
import uvloop
from aiohttp import web

HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "proxy-connection", "trailer"}


async def handle(request):
    headers = [(k, v) for k, v in request.headers.items() if k.lower() not in HOP]
    data = request.content if request.can_read_body else None
    url = request.app["up"] + request.raw_path
    session = request.app["session"]
    async with session.request(request.method, url, headers=headers, data=data, allow_redirects=False) as reply:
        out = web.StreamResponse(status=reply.status, reason=reply.reason)
        for k, v in reply.headers.items():
            if k.lower() not in HOP:
                out.headers.add(k, v)
        await out.prepare(request)
        async for data in reply.content.iter_any():
            await out.write(data)
        await out.write_eof()
        return out


async def main():
    app = web.Application(client_max_size=1 << 40)
    app["up"] = f"http://127.0.0.1:{sys.argv[2]}"
    app["session"] = aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(sys.argv[1]), backlog=4096).start()
    await __import__("asyncio").Event().wait()


uvloop.run(main())
