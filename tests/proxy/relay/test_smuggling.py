"""What could be read two ways never reaches an upstream: a typed refusal, a record of it, and not one byte forwarded."""

import pytest

from proxy.relay.refusals import REFUSALS

H = b"Host: @HOST@\r\n"
NEXT = b"GET /admin HTTP/1.1\r\nHost: x\r\n\r\n"


def post(headers, body=b"0\r\n\r\n" + NEXT):
    return b"POST / HTTP/1.1\r\n" + H + headers + b"\r\n" + body


def te(value):
    return post(b"Transfer-Encoding:" + value + b"\r\n")


def cl(value):
    return post(b"Content-Length:" + value + b"\r\n", b"hello" + NEXT)


def body(wire):
    return post(b"Transfer-Encoding: chunked\r\n", wire)


def line(raw):
    return raw + b"\r\n" + H + b"\r\n"


TE, CL, BOTH, LINE, HEADER, CTL, HOST = (
    "transfer-encoding", "content-length", "length-and-chunked", "request-line", "header-line", "bare-cr-lf-nul", "host",
)  # fmt: skip

CASES = {
    # transfer-encoding
    "te gzip, chunked": (te(b" gzip, chunked"), TE),
    "te chunked, gzip": (te(b" chunked, gzip"), TE),
    "te chunked twice": (te(b" chunked, chunked"), TE),
    "te comma first": (te(b" ,chunked"), TE),
    "te comma last": (te(b" chunked,"), TE),
    "te identity": (te(b" identity"), TE),
    "te xchunked": (te(b" xchunked"), TE),
    "te quoted": (te(b' "chunked"'), TE),
    "te parameter": (te(b" chunked;q=1"), TE),
    "te odd case": (te(b" Chunked"), TE),
    "te vertical tab": (te(b" \x0bchunked"), TE),
    "te form feed behind": (te(b" chunked\x0c"), TE),
    "te no-break space": (te(b" \xa0chunked"), TE),
    "te empty": (te(b""), TE),
    "te inner space": (te(b" chun ked"), TE),
    "te two lines": (post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), TE),
    "te two lines, second other": (post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), TE),
    "te with HTTP/1.0": (te(b" chunked").replace(b"HTTP/1.1\r\nHost: @", b"HTTP/1.0\r\nHost: @"), "chunked-in-1.0"),
    # content-length
    "cl plus": (cl(b" +5"), CL),
    "cl minus": (cl(b" -5"), CL),
    "cl hex": (cl(b" 0x5"), CL),
    "cl underscore": (cl(b" 5_0"), CL),
    "cl list": (cl(b" 5, 5"), CL),
    "cl two numbers": (cl(b" 5 5"), CL),
    "cl empty": (cl(b""), CL),
    "cl float": (cl(b" 5.0"), CL),
    "cl exponent": (cl(b" 1e1"), CL),
    "cl other digits": (cl(" ٥".encode()), CL),
    "cl vertical tab": (cl(b" 5\x0b"), CL),
    "cl too long": (cl(b" 9999999999999999999"), CL),
    "cl twice, same": (post(b"Content-Length: 5\r\nContent-Length: 5\r\n"), CL),
    "cl twice, other": (post(b"Content-Length: 5\r\nContent-Length: 0\r\n"), CL),
    "cl and te": (post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), BOTH),
    "te and cl": (post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), BOTH),
    "cl in odd case and te": (post(b"cOnTeNt-LeNgTh: 5\r\ntRaNsFeR-eNcOdInG: chunked\r\n"), BOTH),
    # header lines
    "space before colon": (post(b"Content-Length : 5\r\n"), HEADER),
    "tab before colon": (post(b"Content-Length\t: 5\r\n"), HEADER),
    "te space before colon": (post(b"Transfer-Encoding : chunked\r\n"), HEADER),
    "folded value": (post(b"X: a\r\n b\r\n"), HEADER),
    "folded te": (post(b"Transfer-Encoding:\r\n chunked\r\n"), HEADER),
    "folded first line": (b"GET / HTTP/1.1\r\n " + H + b"\r\n", HEADER),
    "no colon": (post(b"Garbage\r\n"), HEADER),
    "empty name": (post(b": v\r\n"), HEADER),
    "name with space": (post(b"X Y: v\r\n"), HEADER),
    "name in quotes": (post(b'"X": v\r\n'), HEADER),
    "name with a high byte": (post(b"X\xe9: v\r\n"), HEADER),
    "bare LF in a value": (post(b"X: a\nTransfer-Encoding: chunked\r\n"), CTL),
    "bare CR in a value": (post(b"X: a\rTransfer-Encoding: chunked\r\n"), CTL),
    "CR CR LF": (post(b"X: a\r\r\n"), CTL),
    "bare CR, later a bare LF": (post(b"X: a\rb\nTransfer-Encoding : chunked\r\n"), CTL),
    "bare CR in one line, bare LF in the next name": (post(b"X: a\rb\nContent-Length: 5\r\n"), CTL),
    "bare CR and bare LF around nothing but a space": (post(b"X: a\r \nY: b\r\n"), CTL),
    "bare CR in a name, bare LF in the value": (post(b"X\rY: a\nZ: b\r\n"), CTL),
    "bare CR in the request line, bare LF behind": (b"GET /a\rb\n HTTP/1.1\r\n" + H + b"\r\n", LINE),
    "NUL in a value": (post(b"X: a\0b\r\n"), CTL),
    "NUL in a name": (post(b"Content\0-Length: 5\r\n"), CTL),
    "LF LF ends the head": (b"GET / HTTP/1.1\nHost: @HOST@\n\n", CTL),
    "LF CR LF ends the head": (b"GET / HTTP/1.1\r\nHost: @HOST@\n\r\n" + NEXT, CTL),
    # request line
    "two spaces": (line(b"GET  / HTTP/1.1"), LINE),
    "tab": (line(b"GET\t/ HTTP/1.1"), LINE),
    "space behind": (line(b"GET / HTTP/1.1 "), LINE),
    "space in the target": (line(b"GET /a b HTTP/1.1"), LINE),
    "control byte in the target": (line(b"GET /a\x01b HTTP/1.1"), LINE),
    "DEL in the target": (line(b"GET /a\x7fb HTTP/1.1"), LINE),
    "no version": (line(b"GET /"), LINE),
    "lower-case version": (line(b"GET / http/1.1"), LINE),
    "leading space": (line(b" GET / HTTP/1.1"), LINE),
    "leading CRLF": (line(b"\r\nGET / HTTP/1.1"), LINE),
    "method that is no token": (line(b"G@T / HTTP/1.1"), LINE),
    "HTTP/1.2": (line(b"GET / HTTP/1.2"), "version"),
    "HTTP/1.10": (line(b"GET / HTTP/1.10"), "version"),
    "HTTP/0.9": (line(b"GET / HTTP/0.9"), "version"),
    "HTTP/2": (line(b"GET / HTTP/2"), "version"),
    "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2-preface"),
    "CONNECT": (line(b"CONNECT a.example:443 HTTP/1.1"), "connect"),
    "TLS to a plain port": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", CTL),
    # host and targets
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", HOST),
    "two Hosts": (b"GET / HTTP/1.1\r\n" + H + H + b"\r\n", HOST),
    "two Hosts in HTTP/1.0": (b"GET / HTTP/1.0\r\n" + H + H + b"\r\n", HOST),
    "absolute form to elsewhere": (line(b"GET http://elsewhere.example/ HTTP/1.1"), "absolute-form"),
    "absolute form with a user": (line(b"GET http://@HOST@@evil.example/ HTTP/1.1"), "absolute-form"),
    "absolute form, https": (line(b"GET https://localhost/ HTTP/1.1"), "absolute-form"),
    "absolute form, metadata": (line(b"GET http://169.254.169.254/latest HTTP/1.1"), "absolute-form"),
    "authority form without CONNECT": (line(b"GET a.example:80 HTTP/1.1"), "absolute-form"),
    "reserved path": (line(b"GET /_onlooker/x HTTP/1.1"), "reserved-path"),
    "objective without a name": (line(b"GET /o//x HTTP/1.1"), "reserved-path"),
    "objective without a path": (line(b"GET /o/x HTTP/1.1"), "reserved-path"),
    "foreign Host from a page": (b"GET / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n", "foreign-host"),
    "foreign Host, fetch metadata": (b"GET / HTTP/1.1\r\nHost: evil.example:8790\r\nSec-Fetch-Site: same-origin\r\n\r\n", "foreign-host"),
    # chunks
    "chunk 0x": (body(b"0x5\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk plus": (body(b"+5\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk minus": (body(b"-1\r\n0\r\n\r\n"), "chunk-size"),
    "chunk underscore": (body(b"0_5\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk space in front": (body(b" 5\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk space behind": (body(b"5 \r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk without digits": (body(b"\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk only an extension": (body(b";a=b\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk of 17 digits": (body(b"10000000000000005\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk line ends in LF": (body(b"5\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk CR in the extension": (body(b"5;a\rb\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk LF in the extension": (body(b"5;a\nb\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk NUL in the extension": (body(b"5;a\0b\r\nhello\r\n0\r\n\r\n"), "chunk-size"),
    "chunk data ends in LF": (body(b"5\r\nhello\n0\r\n\r\n"), "chunk-data-end"),
    "chunk data too long": (body(b"5\r\nhelloo\r\n0\r\n\r\n"), "chunk-data-end"),
    "chunk data too short": (body(b"6\r\nhello\r\n0\r\n\r\n"), "chunk-data-end"),
    "trailer space before colon": (body(b"0\r\nX : y\r\n\r\n"), "trailer"),
    "trailer folded": (body(b"0\r\nX: y\r\n z\r\n\r\n"), "trailer"),
    "trailer NUL": (body(b"0\r\nX: y\0\r\n\r\n"), "trailer"),
    "trailer ends in LF": (body(b"0\r\nX: y\n\r\n\r\n"), "trailer"),
    "last chunk ends in LF LF": (body(b"0\r\n\n" + NEXT), "trailer"),
    "chunk line without end": (body(b"5;" + b"a" * 20_000 + b"\r\n"), "chunk-line-too-long"),
    # sizes
    "head over 1 MiB": (b"GET / HTTP/1.1\r\n" + H + b"X: " + b"v" * (1 << 20) + b"\r\n\r\n", "head-too-large"),
    "head one byte over 1 MiB": (b"GET / HTTP/1.1\r\n" + H.replace(b"@HOST@", b"localhost:7") + b"X: " + b"v" * ((1 << 20) - 41) + b"\r\n\r\n", "head-too-large"),
    "head that never ends": (b"GET / HTTP/1.1\r\n" + H + b"X: " + b"v" * (1 << 21), "head-too-large"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_typed_refusal_and_nothing_forwarded(stage, name):
    raw, code = CASES[name]
    if name == "foreign Host from a page" or b"evil.example" in raw:
        raw = raw.replace(b"@HOST@", b"localhost")
    got, reached = stage.play_refusal(raw)
    status = REFUSALS[code][0]
    assert got.startswith(b"HTTP/1.1 %d " % status), got[:200]
    assert b"\r\nOnlooker-Refusal: " + code.encode() + b"\r\n" in got
    assert reached == 0
    assert stage.refused() == [code]


def test_the_table_is_as_large_as_promised():
    assert len(CASES) >= 60


def test_every_refusal_is_documented_and_every_documented_one_exists():
    from pathlib import Path

    text = Path(__file__).parents[3].joinpath("docs/refusals.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert set(rows) == set(REFUSALS)
    for code, (status, sentence) in REFUSALS.items():
        assert f"| {status} |" in rows[code]
        assert sentence in rows[code]
