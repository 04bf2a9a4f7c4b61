"""Slow-loris clients of one proxy: ``python half_open.py PORT COUNT`` opens heads, says "ready", feeds them bytes until its input closes."""

import selectors
import socket
import sys

PER_S = 500  # bytes a second, one to each connection in turn


def hold(port, count):
    socks = []
    for _ in range(count):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.sendall(b"POST /slow HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        socks.append(sock)
    print("ready", flush=True)
    told = selectors.DefaultSelector()
    told.register(sys.stdin, selectors.EVENT_READ)
    at = 0
    while not told.select(1 / PER_S):
        socks[at % count].send(b"a")
        at += 1


if __name__ == "__main__":
    hold(int(sys.argv[1]), int(sys.argv[2]))
