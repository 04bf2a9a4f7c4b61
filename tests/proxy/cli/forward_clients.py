"""An https model and the clients that ask it through a forward proxy: what the environment says is all they are told."""

import json
import socket
import subprocess
import sys
import threading
import time

from proxy.ca import authority
from proxy.ca.leaf import Mint
from proxy.instance import read_records

from .instance import ENV

CALL = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "rm -rf /srv/data"}}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
ASK = {
    "model": "m",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "x"}],
    "tools": [{"name": "bash", "input_schema": {"type": "object"}}],
}


class Model(threading.Thread):
    """An https upstream that answers each request with one tool call."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        made = authority.issue(["localhost"])
        self.context = Mint(made).context("localhost")
        self.ca = folder / "upstream.pem"
        self.ca.write_bytes(authority.pem(made.certificate))
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.seen = []  # requests as they came: (head, body)
        self.start()

    def run(self):
        while True:
            try:
                client, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(client,), daemon=True).start()

    def one(self, raw):
        body = json.dumps(CALL).encode()
        try:
            with self.context.wrap_socket(raw, server_side=True) as sock:
                while True:
                    head = b""
                    while b"\r\n\r\n" not in head:
                        data = sock.recv(65536)
                        if not data:
                            return
                        head += data
                    size = int(head.lower().partition(b"content-length:")[2].split(b"\r")[0] or 0)
                    rest = head.partition(b"\r\n\r\n")[2]
                    while len(rest) < size:
                        rest += sock.recv(65536)
                    self.seen.append((head.partition(b"\r\n\r\n")[0], rest[:size]))
                    sock.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                        + body
                    )
        except OSError:
            pass


def recorded(state, kind, count=1):
    deadline = time.monotonic() + 120
    while True:
        found = [r for r in read_records(state) if r["kind"] == kind]
        if len(found) >= count:
            return found
        assert time.monotonic() < deadline, [r["kind"] for r in read_records(state)]
        time.sleep(0.05)


def client_environment(ready, state):
    """As ``onlooker env --forward`` gives it, but also for localhost: that is where the model listens here."""
    argv = [sys.executable, "-m", "proxy", "env", "--state", str(state), "--forward", "--json"]
    given = json.loads(subprocess.run(argv, env=ENV, stdout=subprocess.PIPE, check=True).stdout)["variables"]
    assert given["HTTPS_PROXY"] == f"http://{ready['forward']}"
    kept = {k: v for k, v in ENV.items() if not k.lower().endswith("_proxy")}
    return {**kept, **given, "NO_PROXY": "", "no_proxy": ""}


CURL = ["curl", "-sS", "--fail", "-X", "POST", "-H", "Content-Type: application/json", "-d", "@{body}", "{url}"]

PYTHON = {
    "urllib": """
import sys, urllib.request
asked = urllib.request.Request(sys.argv[1], open(sys.argv[2], "rb").read(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(asked).read().decode())
""",
    "requests": """
import sys, requests
got = requests.post(sys.argv[1], data=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"})
got.raise_for_status()
print(got.text)
""",
    "httpx": """
import sys, httpx
got = httpx.post(sys.argv[1], content=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"})
got.raise_for_status()
print(got.text)
""",
    "aiohttp": """
import asyncio, sys, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session:
        async with session.post(sys.argv[1], data=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"}) as got:
            print(await got.text())
asyncio.run(main())
""",
}

NODE = """
const http = require("http"), tls = require("tls"), https = require("https"), fs = require("fs");
const to = new URL(process.argv[2]), proxy = new URL(process.env.HTTPS_PROXY);
http.request({host: proxy.hostname, port: proxy.port, method: "CONNECT", path: to.host}).on("connect", (said, socket) => {
  if (said.statusCode !== 200) process.exit(3);
  const secure = tls.connect({socket, servername: to.hostname}, () => {
    const asked = https.request({createConnection: () => secure, host: to.hostname, port: to.port, path: to.pathname, method: "POST",
      headers: {"Content-Type": "application/json"}}, got => got.pipe(process.stdout));
    asked.end(fs.readFileSync(process.argv[3]));
  });
}).end();
"""

JAVA = """
import java.net.*; import java.net.http.*; import java.nio.file.*;
public class Ask {
  public static void main(String[] a) throws Exception {
    var client = HttpClient.newBuilder().proxy(ProxySelector.of(new InetSocketAddress(a[2], Integer.parseInt(a[3])))).build();
    var asked = HttpRequest.newBuilder(URI.create(a[0])).header("Content-Type", "application/json")
      .POST(HttpRequest.BodyPublishers.ofFile(Path.of(a[1]))).build();
    System.out.println(client.send(asked, HttpResponse.BodyHandlers.ofString()).body());
  }
}
"""

GO = """
package main

import ("fmt"; "io"; "net/http"; "net/url"; "os")

func main() {
	body, _ := os.Open(os.Args[2])
	proxy, _ := url.Parse(os.Getenv("HTTPS_PROXY"))
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), ForceAttemptHTTP2: true}}
	got, err := client.Post(os.Args[1], "application/json", body)
	if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
	text, _ := io.ReadAll(got.Body)
	fmt.Println(string(text))
}
"""

UNDICI = """
import { fetch as theirs, EnvHttpProxyAgent, setGlobalDispatcher } from "undici";
import { readFileSync } from "node:fs";
setGlobalDispatcher(new EnvHttpProxyAgent());
const ask = process.argv[4] === "built-in" ? fetch : theirs;
const got = await ask(process.argv[2], {method: "POST", headers: {"Content-Type": "application/json"}, body: readFileSync(process.argv[3])});
if (!got.ok) throw new Error(got.status + await got.text());
console.log(await got.text());
"""

AXIOS = """
import axios from "axios";
import { HttpsProxyAgent } from "https-proxy-agent";
import { readFileSync } from "node:fs";
const more = process.argv[4] === "agent" ? {proxy: false, httpsAgent: new HttpsProxyAgent(process.env.HTTPS_PROXY)} : {};
const got = await axios.post(process.argv[2], readFileSync(process.argv[3]), {headers: {"Content-Type": "application/json"}, responseType: "text", transformResponse: [x => x], ...more});
console.log(got.data);
"""

BOTO3 = """
import json, sys, boto3
from botocore.config import Config
bedrock = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=sys.argv[1], aws_access_key_id="AKIDEXAMPLE",
    aws_secret_access_key="not-a-secret", config=Config(retries={"max_attempts": 0}))
got = bedrock.invoke_model(modelId="anthropic.claude-3:0", body=open(sys.argv[2], "rb").read())
print(got["body"].read().decode())
"""
