"""Packet captures give the records live traffic gives; bad ones are said in a sentence."""

import json
import random
import struct

import dpkt
import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.instance import read_records

CALL = {"type": "tool_use", "id": "toolu_pcap0001", "name": "Bash", "input": {"command": "rm -rf / --no-preserve-root"}}
MESSAGE = json.dumps(
    {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [CALL], "stop_reason": "tool_use"}
).encode()
ASK = json.dumps({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}]}).encode()
ASKED = (
    b"POST /v1/messages HTTP/1.1\r\nHost: api.example\r\nx-api-key: sk-ant-sesame\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ASK), ASK)
)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(MESSAGE), MESSAGE)
CLIENT, SERVER = (bytes([10, 0, 0, 1]), 40000), (bytes([10, 0, 0, 2]), 8080)
SYN, ACK, FIN, RST = 2, 16, 1, 4


def packet(source, target, seq, flags, data=b"", *, link=1):
    tcp = dpkt.tcp.TCP(sport=source[1], dport=target[1], seq=seq % (1 << 32), flags=flags, data=data)
    if len(source[0]) == 16:
        ip = dpkt.ip6.IP6(src=source[0], dst=target[0], nxt=6, hlim=64, plen=len(tcp), data=tcp)
    else:
        ip = dpkt.ip.IP(src=source[0], dst=target[0], p=6, data=tcp, len=20 + len(tcp))
    if link == 101:
        return bytes(ip)
    if link == 113:
        return bytes(dpkt.sll.SLL(ethtype=0x800, data=ip))
    if link == 276:
        return bytes(dpkt.sll2.SLL2(ethtype=0x800, data=ip))
    if link == 0:
        return struct.pack("<I", 2) + bytes(ip)
    kind = dpkt.ethernet.ETH_TYPE_IP6 if len(source[0]) == 16 else dpkt.ethernet.ETH_TYPE_IP
    return bytes(dpkt.ethernet.Ethernet(src=b"\2" * 6, dst=b"\3" * 6, type=kind, data=ip))


def talk(asked=ASKED, answer=ANSWER, client=CLIENT, server=SERVER, link=1, *, shuffle=False, opening=True, fin=True):
    """The packets of one connection, 100 bytes each."""
    out = []
    if opening:
        out += [packet(client, server, 99, SYN, link=link), packet(server, client, 499, SYN | ACK, link=link)]
    for source, target, first, data in ((client, server, 100, asked), (server, client, 500, answer)):
        cut = [
            packet(source, target, first + at, ACK, data[at : at + 100], link=link) for at in range(0, len(data), 100)
        ]
        cut += cut[:1]
        if shuffle:
            random.Random(1).shuffle(cut)
        out += cut
    if fin:
        out += [packet(server, client, 500 + len(answer), FIN | ACK, link=link)]
        out += [packet(client, server, 100 + len(asked), FIN | ACK, link=link)]
    return out


def written(path, packets, link=1, ng=False):
    with path.open("wb") as file:
        writer = dpkt.pcapng.Writer(file, linktype=link) if ng else dpkt.pcap.Writer(file, linktype=link)
        for n, raw in enumerate(packets):
            writer.writepkt(raw, ts=1796000000 + n)
    return path


def imported(tmp_path, *paths):
    return CliRunner().invoke(cli, ["import", "pcap", *map(str, paths), "--state", str(tmp_path / "s")])


def kinds(tmp_path, kind):
    return [r for r in read_records(tmp_path / "s/import") if r["kind"] == kind]


SIX = bytes([0xFD] + [0] * 14 + [1]), 40000
VARIANTS = {
    "ethernet": {},
    "pcapng": {"ng": True},
    "cooked": {"link": 113},
    "cooked2": {"link": 276},
    "raw": {"link": 101},
    "loopback": {"link": 0},
    "shuffled and doubled": {"shuffle": True},
    "no opening": {"opening": False},
    "ipv6": {"client": SIX, "server": (SIX[0][:-1] + b"\2", 8080)},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_captures_calls_are_recorded(tmp_path, name):
    how = dict(VARIANTS[name])
    link, ng = how.get("link", 1), how.pop("ng", False)
    result = imported(tmp_path, written(tmp_path / "a.pcap", talk(**how), link, ng))
    assert result.exit_code == 1, result.output
    (action,) = kinds(tmp_path, "action")
    assert action["call"]["id"] == "toolu_pcap0001"
    assert action["exchange"]["upstream"].endswith(":8080")
    assert all("sk-ant-sesame" not in f.read_text(errors="replace") for f in (tmp_path / "s").rglob("*") if f.is_file())


def test_two_files_of_one_name_are_both_read(tmp_path):
    files = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        other = ANSWER.replace(b"toolu_pcap0001", b"toolu_pcap000" + folder[:1].encode())
        files.append(written(tmp_path / folder / "a.pcap", talk(answer=other)))
    imported(tmp_path, *files)
    assert {a["call"]["id"] for a in kinds(tmp_path, "action")} == {"toolu_pcap000o", "toolu_pcap000t"}


def test_tls_and_missing_packets_are_opaque_flows(tmp_path):
    hello = b"\x16\x03\x01\x00\x05hello"
    missing = talk(client=(CLIENT[0], 40001))
    del missing[-4]
    imported(tmp_path, written(tmp_path / "a.pcap", talk(asked=hello, answer=hello) + missing))
    assert sorted(r["flow"]["reason"] for r in kinds(tmp_path, "opaque_flow")) == ["packets_missing", "tls"]
    assert kinds(tmp_path, "action") == []


def test_a_cut_off_capture_keeps_what_it_has_and_says_so(tmp_path):
    path = written(tmp_path / "a.pcap", talk())
    path.write_bytes(path.read_bytes()[:-77])
    result = imported(tmp_path, path)
    assert len(kinds(tmp_path, "action")) == 1
    assert (result.exit_code, "not read" in result.output) == (3, True)


HEADER = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a packet capture"),
        (b"neither", "not a packet capture"),
        (bytes(400), "not a packet capture"),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 195), "link type 195"),
        (HEADER + struct.pack("<IIII", 1, 1, 0xFFFFFFF0, 9) + b"x", "behind packet 0"),
        (struct.pack("<III", 0x0A0D0D0A, 0xFFFFFF00, 0x1A2B3C4D) + bytes(400), "not a packet capture"),
    ],
)
def test_a_file_that_is_no_capture_is_said_in_one_sentence(tmp_path, content, said):
    (tmp_path / "a.pcap").write_bytes(content)
    result = imported(tmp_path, tmp_path / "a.pcap")
    assert (result.exit_code, said in result.output) == (3, True), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("seed", range(20))
def test_damaged_captures_never_raise(tmp_path, seed):
    chance = random.Random(seed)
    raw = bytearray(written(tmp_path / "a.pcap", talk(), ng=seed % 2 == 1).read_bytes())
    for _ in range(12):
        raw[chance.randrange(24, len(raw))] = chance.randrange(256)
    (tmp_path / "a.pcap").write_bytes(raw)
    result = imported(tmp_path, tmp_path / "a.pcap")
    assert result.exit_code in (0, 1, 3), result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit)
