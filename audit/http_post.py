"""One POST on a connection of its own, as the sinks send batches.

In: URL, body, headers. Out: (status, seconds the other side asks to wait or None), or ``SinkError``: try again.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from urllib.parse import SplitResult

from audit.sinks import SinkError


def post(
    name: str, url: SplitResult, body: bytes, headers: Mapping[str, str], timeout_s: float
) -> tuple[int, float | None]:
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=timeout_s)
    try:
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("POST", path, body, dict(headers))
        reply = connection.getresponse()
        after = reply.getheader("retry-after", "")
        return reply.status, float(after) if after.isdigit() else None
    except (OSError, http.client.HTTPException) as error:
        raise SinkError(f"{name}: {error or type(error).__name__}") from error
    finally:
        connection.close()


def refused_for_now(status: int) -> bool:
    """Whether the same request may be taken later."""
    return status in {408, 425, 429} or status >= 500
