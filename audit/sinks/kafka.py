"""Kafka (extra ``kafka``, librdkafka through confluent-kafka): one message per record, all of a log on one partition.

In: records. Out: messages whose key is the log's id and whose header ``onlooker-id`` is the record's; a batch is taken
when every in-sync replica has acknowledged each message. Order holds because the producer is idempotent, leaves no gap
(``enable.gapless.guarantee``, librdkafka CONFIGURATION.md), and is thrown away with what it holds when a batch fails.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.json_text import encode
from audit.sinks import Options, Record, Sent, SinkError, read_options, secret

PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
REFUSED = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_RECORD", "RECORD_LIST_TOO_LARGE"})
_SILENT = logging.getLogger("onlooker.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False  # the library's own lines; what matters of them is in the status of the sink


class KafkaSink:
    batch_records = 512
    linger_s = 0.0

    def __init__(self, library: Any, settings: Mapping[str, Any], topic: str, timeout_s: float) -> None:
        self._library, self._settings, self._topic, self._timeout_s = library, settings, topic, timeout_s
        self._producer: Any = None
        self._last_error = ""

    def send(self, batch: Sequence[Record]) -> Sent:
        producer = self.open()
        refused: list[str] = []
        failed: list[str] = []

        def done(error: Any, _message: Any) -> None:
            if error is not None:
                (refused if error.name() in REFUSED else failed).append(error.str())

        try:
            for record in batch:
                self._produce(producer, record, done)
            waiting = producer.flush(self._timeout_s)
        except self._library.KafkaException as error:
            self._drop()
            raise SinkError(f"kafka: {error.args[0].str()}") from error
        if waiting or failed:
            why = failed[0] if failed else self._last_error or "no answer"
            missing = waiting + len(failed)
            self._drop()
            raise SinkError(f"kafka: {missing} of {len(batch)} not acknowledged: {why}")
        return Sent(len(refused), refused[0] if refused else "")

    def close(self) -> None:
        self._drop()

    def _produce(self, producer: Any, record: Record, done: Any) -> None:
        said = {"key": record["log_id"], "headers": {"onlooker-id": record["id"], "onlooker-kind": record["kind"]}}
        at_ms = round(datetime.fromisoformat(record["ts"]).timestamp() * 1000)
        try:
            producer.produce(self._topic, encode(record), timestamp=at_ms, on_delivery=done, **said)
        except self._library.KafkaException as error:
            if error.args[0].name() not in REFUSED:
                raise
            done(error.args[0], None)
        producer.poll(0)

    def open(self) -> Any:
        """The producer. Raises the library's KafkaException when a setting is wrong."""
        if self._producer is None:
            self._last_error = ""
            self._producer = self._library.Producer({**self._settings, "error_cb": self._note}, logger=_SILENT)
        return self._producer

    def _drop(self) -> None:
        """Nothing of the failed batch may be sent later than the batch that is tried next."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(1.0)

    def _note(self, error: Any) -> None:
        self._last_error = error.str()


class Kafka:
    name = "kafka"
    options: Options = MappingProxyType(
        {
            "brokers": "127.0.0.1:9092",
            "topic": "onlooker.records",
            "protocol": "plaintext",
            "username": "",
            "password": "",
            "mechanism": "SCRAM-SHA-512",
            "ca_file": "",  # empty: the system's
            "compression": "gzip",
            "max_bytes": 1_000_000,  # of one message; the topic's max.message.bytes
            "timeout_s": 10.0,
        }
    )

    def open(self, options: Options, place: Path) -> KafkaSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        if chosen["protocol"] not in PROTOCOLS:
            raise ValueError(f"sink kafka: protocol is {chosen['protocol']!r}; expected {', '.join(PROTOCOLS)}")
        try:
            import confluent_kafka  # noqa: PLC0415 - the extra `kafka`
        except ImportError:
            raise ValueError("sink kafka: needs the extra: pip install 'onlooker[kafka]'") from None
        sink = KafkaSink(confluent_kafka, _settings(chosen), chosen["topic"], chosen["timeout_s"])
        try:
            sink.open()
        except confluent_kafka.KafkaException as error:
            raise ValueError(f"sink kafka: {error.args[0].str()}") from None
        return sink


def _settings(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """librdkafka's names. A message never times out by itself: the batch does, whole."""
    settings = {
        "bootstrap.servers": chosen["brokers"],
        "client.id": "onlooker",
        "security.protocol": chosen["protocol"],
        "acks": "all",
        "enable.idempotence": True,
        "enable.gapless.guarantee": True,
        "message.timeout.ms": round(chosen["timeout_s"] * 10_000),
        "socket.timeout.ms": max(1000, round(chosen["timeout_s"] * 1000)),
        "reconnect.backoff.max.ms": 1000,
        "linger.ms": 5,
        "compression.type": chosen["compression"],
        "message.max.bytes": chosen["max_bytes"],
    }
    if chosen["ca_file"]:
        settings["ssl.ca.location"] = chosen["ca_file"]
    if chosen["protocol"].startswith("sasl"):
        password = secret("kafka", chosen["password"])
        settings |= {"sasl.mechanism": chosen["mechanism"], "sasl.username": chosen["username"]}
        settings["sasl.password"] = password
    return settings


SINK = Kafka()
