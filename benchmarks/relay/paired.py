"""Delays above direct on a machine that is not quiet: direct, nginx and ours side by side in many short rounds.

All run at once; each round asks each in turn, so a disturbance meets all of them. What is printed is the median over the
rounds of (this one's percentile minus direct's percentile in the same round): a difference of medians is trusted where
one run's p99 is the machine's own scheduling.
"""

import socket
import statistics
import time


def ask(sock, request, size):
    sock.sendall(request)
    got = 0
    while got < size:
        got += len(sock.recv(65536))


def burst(sock, request, size, count):
    """(p50, p99) of ``count`` requests one after the other, in ms."""
    late = []
    for _ in range(count):
        began = time.perf_counter_ns()
        ask(sock, request, size)
        late.append(time.perf_counter_ns() - began)
    late.sort()
    return late[count // 2] / 1e6, late[int(count * 0.99)] / 1e6


def latency(ports, rounds, count=300):
    """``ports``: name -> port, "direct" among them. name -> [(p50, p99), …] per round."""
    request = b"GET /small HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    socks = {name: socket.create_connection(("127.0.0.1", port)) for name, port in ports.items()}
    for sock in socks.values():
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sizes = {}
    for name, sock in socks.items():
        sock.sendall(request)
        time.sleep(0.1)
        sizes[name] = len(sock.recv(65536))
        burst(sock, request, sizes[name], count)
    order, out = list(socks), {name: [] for name in socks}
    for _ in range(rounds):
        for name in order:
            out[name].append(burst(socks[name], request, sizes[name], count))
        order.append(order.pop(0))
    for sock in socks.values():
        sock.close()
    return out


def above(got, index):
    """name -> (median, spread between the quartiles) of the differences to direct, round by round."""
    out = {}
    for name in got:
        differences = [one[index] - direct[index] for one, direct in zip(got[name], got["direct"], strict=True)]
        low, middle, high = statistics.quantiles(differences, n=4)
        out[name] = (middle, high - low)
    return out


def show(title, got, columns):
    print(f"\n{title}")
    for name in got:
        cells = []
        for index, column in columns:
            middle, spread = above(got, index)[name]
            own = statistics.median(one[index] for one in got[name])
            cells.append(f"{column} {own:7.3f} ms, above direct {middle:+7.3f} ms (quartiles {spread:.3f} apart)")
        print(f"  {name:10} " + "   ".join(cells))
