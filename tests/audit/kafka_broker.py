"""A broker in a process of its own: librdkafka's mock cluster, Debian's library if there is one, else the wheel's.

``python -m tests.audit.kafka_broker`` prints its address and then obeys lines on standard input: ``down``, ``up``,
``error CODE COUNT`` (the next produce requests are answered with it), ``slow MS`` (each answer waits so long). The library
that serves is another copy, and on Debian another version, than the one the sink sends with.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import subprocess
import sys
from pathlib import Path

PRODUCE = 0  # Kafka protocol: API key


def library():
    found = ctypes.util.find_library("rdkafka")
    if found is None:
        import confluent_kafka

        bundled = Path(confluent_kafka.__file__).parent.with_name("confluent_kafka.libs")
        found = str(next(bundled.glob("librdkafka-*")))
    kafka = ctypes.CDLL(found)
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(kafka, name).restype = ctypes.c_void_p
    kafka.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return kafka


def serve():
    kafka = library()
    why = ctypes.create_string_buffer(512)
    kafka.rd_kafka_conf_set.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_int,
    ]
    conf = ctypes.c_void_p(kafka.rd_kafka_conf_new())
    client = ctypes.c_void_p(kafka.rd_kafka_new(0, conf, why, 512))
    assert client.value, why.value
    cluster = ctypes.c_void_p(kafka.rd_kafka_mock_cluster_new(client, 1))
    print(kafka.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    orders = {
        "down": lambda: kafka.rd_kafka_mock_broker_set_down(cluster, 1),
        "up": lambda: kafka.rd_kafka_mock_broker_set_up(cluster, 1),
        "slow": lambda ms: kafka.rd_kafka_mock_broker_set_rtt(cluster, 1, int(ms)),
        "error": lambda code, count: kafka.rd_kafka_mock_push_request_errors(
            cluster, ctypes.c_int16(PRODUCE), ctypes.c_size_t(int(count)), *[ctypes.c_int(int(code))] * int(count)
        ),
    }  # fmt: skip
    for line in sys.stdin:
        name, *rest = line.split()
        orders[name](*rest)
        print("done", flush=True)


class Broker:
    """Started; ``address``, ``order("down")``, ``stop()``."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.audit.kafka_broker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        self.address = self._process.stdout.readline().strip()

    def order(self, text):
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def stop(self):
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    serve()
