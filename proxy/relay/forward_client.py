"""A forward proxy's client: absolute-form requests and CONNECT, and the objective its user name gives."""

from __future__ import annotations

import base64
import re

from proxy.relay import targets
from proxy.relay.head import MAX_HEAD_BYTES, request
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Place, asked_of
from proxy.relay.tunnels import HELLO, PROXY, TunnelClient

_TAKEN = re.compile(rb"\r\n(proxy-connection|proxy-authorization):[ \t]*([^\r\n]*)(?=\r\n)", re.IGNORECASE)
_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,128}").fullmatch


class ForwardClient(TunnelClient):
    __slots__ = ()

    def _head(self, data: bytes) -> None:
        if self.phase != PROXY:
            super()._head(data)
            return
        end = data.find(b"\r\n\r\n") + 4
        if end < 4 or end > MAX_HEAD_BYTES:
            self._partial(data, end)
            return
        head = data[:end]
        bound = self.bound
        for name, value in _TAKEN.findall(head):
            if name.lower() == b"proxy-authorization":
                bound = _segment(value)
        if bound != self.bound:
            self.bound, self.target = bound, None
        kept = _TAKEN.sub(b"", head)
        if kept.startswith(b"CONNECT "):
            self._connect(kept, data[end:])
        else:
            super()._head(data if kept == head else kept + data[end:])

    def _place(self, method: bytes, target: bytes) -> None:
        if self.phase != PROXY or method == b"CONNECT":
            super()._place(method, target)
            return
        found = self.listener.routes.find(target)
        self.place, self.target = asked_of(method, target, Place(found.route, found.target, self.bound))

    def _connect(self, head: bytes, surplus: bytes) -> None:
        try:
            self.method, target, _, length, chunked, *_ = request(head)
            if length or chunked:
                raise RefusedError("connect-body")  # noqa: TRY301 - answered like the others
            self.host, self.port = targets.connect(target)
            self.listener.routes.allow(self.host)
        except RefusedError as error:
            self.refuse(error.code)
            return
        if self.up is not None:  # of an absolute-form request before
            self.up.detach()
            self.up = None
        self.connect_head = head
        self.ahead += surplus
        why = self.listener.unread(self.host)
        if why:
            self._blind(why)
            return
        self.phase = HELLO
        self._tell()
        self._clock(self.listener.hello_s, self._silent)
        if surplus:
            self._ahead(b"")


def _segment(value: bytes) -> str | None:
    """The objective segment a launcher put into the proxy's URL as its user name; the password says nothing."""
    scheme, _, given = value.strip().partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        user = base64.b64decode(given.strip(), validate=True).decode("ascii").partition(":")[0]
    except ValueError:
        return None
    return user if _SEGMENT(user) else None
