"""The Kafka sink against a broker of its own process: order, at least once, outages, refusals."""

import json
import re
import shutil
import subprocess
import threading

import pytest

from audit.read import records as read_records
from audit.sinks import SinkError
from audit.sinks.kafka import SINK as KAFKA
from tests.audit.build import action_record, every_kind, open_log
from tests.audit.test_sinks import drain, run_until

kafka = pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")


@pytest.fixture
def broker():
    from tests.audit.kafka_broker import Broker

    started = Broker()
    yield started
    started.stop()


@pytest.fixture
def folder(tmp_path):
    with open_log(tmp_path) as log:
        for record in every_kind():
            log.append(record)
    return tmp_path / "audit"


def ids(messages):
    return [dict(m.headers())["onlooker-id"].decode() for m in messages]


def held(address, count):
    """The messages of the topic in its order, until so many different records are there."""
    consumer = kafka.Consumer({"bootstrap.servers": address, "group.id": "test"})
    partitions = consumer.list_topics("onlooker.records", 10).topics["onlooker.records"].partitions
    consumer.assign([kafka.TopicPartition("onlooker.records", p, kafka.OFFSET_BEGINNING) for p in partitions])
    found, different = [], set()
    while len(different) < count:
        message = consumer.poll(20)
        assert message is not None, f"{len(found)} of {count} messages are there"
        if message.error() is None:
            found.append(message)
            different.update(ids([message]))
    consumer.close()
    return found


def wanted(folder):
    return [r["id"] for r in read_records(folder)]


def test_kafka_gets_each_record_once_in_order_on_one_partition_under_the_logs_id(folder, broker):
    sink = KAFKA.open({"brokers": broker.address}, folder)
    status = drain(folder, "kafka", sink)
    messages = held(broker.address, len(wanted(folder)))
    assert ids(messages) == wanted(folder)
    assert [json.loads(m.value()) for m in messages] == list(read_records(folder))
    assert len({m.partition() for m in messages}) == 1
    assert {m.key().decode() for m in messages} == {next(read_records(folder))["log_id"]}
    assert (status.sent, status.rejected, status.lost) == (len(messages), 0, 0)


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_another_client_reads_what_the_sink_sent(folder, broker):
    drain(folder, "kafka", KAFKA.open({"brokers": broker.address}, folder))
    read = ["kcat", "-C", "-q", "-e", "-b", broker.address, "-t", "onlooker.records", "-f", "%k %h %s\n"]
    done = subprocess.run(read, capture_output=True, text=True, timeout=120, check=True)
    found = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert [json.loads(value)["id"] for _, _, value in found] == wanted(folder)
    assert found[0][:2] == [
        wanted(folder)[0].rpartition(":")[0],
        f"onlooker-id={wanted(folder)[0]},onlooker-kind=segment",
    ]


def test_a_broker_that_is_not_there_keeps_its_place(folder):
    sink = KAFKA.open({"brokers": "127.0.0.1:9", "timeout_s": 0.5}, folder)
    with pytest.raises(SinkError, match=r"kafka: 1 of 1 not acknowledged: .*(refused|down|timed out)"):
        sink.send([next(read_records(folder))])
    sink.close()


@pytest.mark.faults
def test_what_is_under_way_when_the_broker_goes_arrives_after_it_came_back(tmp_path, broker):
    """Down and up three times while records are written: no record missing, each first seen in its order."""
    log = open_log(tmp_path)
    # longer than a producer's start, which every failed batch needs anew: the library asks twice a second for its id
    sink = KAFKA.open({"brokers": broker.address, "timeout_s": 3.0}, tmp_path)
    sink.batch_records = 50
    written = threading.Event()
    state = {"downs": 0, "failures": 0}

    def write():
        for _ in range(1500):
            log.append(action_record())
        written.set()

    def weather(runner):
        status = runner.status["kafka"]
        if state["downs"] < 3 and status.sent >= 300 * (state["downs"] + 1):
            broker.order("down")
            state["downs"] += 1
            state["failures"] = status.errors
        elif state["downs"] and status.errors > state["failures"]:
            broker.order("up")
            state["failures"] = 10**9
        return written.is_set() and status.sent >= log.next_seq

    writer = threading.Thread(target=write)
    writer.start()
    runner = run_until(tmp_path / "audit", {"kafka": sink}, weather, timeout_s=120)
    writer.join()
    log.close()
    status = runner.status["kafka"]
    assert (state["downs"], status.rejected, status.lost) == (3, 0, 0)
    assert status.errors >= 3
    seen = list(dict.fromkeys(ids(held(broker.address, status.sent))))
    assert seen[: status.sent] == [f"{log.log_id}:{n}" for n in range(status.sent)]


@pytest.mark.parametrize("code", [6, 7, 19], ids=["not leader", "timed out", "not enough replicas"])
def test_an_answer_that_may_pass_is_tried_again_in_order(folder, broker, code):
    sink = KAFKA.open({"brokers": broker.address}, folder)
    broker.order(f"error {code} 2")
    drain(folder, "kafka", sink)
    assert list(dict.fromkeys(ids(held(broker.address, len(wanted(folder)))))) == wanted(folder)


def test_a_slow_broker_is_waited_for(folder, broker):
    broker.order("slow 100")
    drain(folder, "kafka", KAFKA.open({"brokers": broker.address}, folder))
    assert ids(held(broker.address, len(wanted(folder)))) == wanted(folder)


def test_a_record_too_large_for_the_topic_is_counted_and_stops_no_other(tmp_path, broker):
    with open_log(tmp_path) as log:
        for size in (10, 20_000, 10):
            log.append(action_record("x" * size))
    folder = tmp_path / "audit"
    large = next(r["id"] for r in read_records(folder) if len(json.dumps(r)) > 20_000)
    status = drain(folder, "kafka", KAFKA.open({"brokers": broker.address, "max_bytes": 10_000}, folder))
    rest = [i for i in wanted(folder) if i != large]
    assert status.rejected == 1
    assert list(dict.fromkeys(ids(held(broker.address, len(rest))))) == rest


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protocol": "carrier"}, "protocol is 'carrier'; expected plaintext, ssl"),
        ({"compression": "shrink"}, 'sink kafka: Invalid value "shrink"'),
        ({"topics": "x"}, "unknown option 'topics'"),
        ({"protocol": "sasl_ssl", "password": "env:ONLOOKER_NOT_SET"}, "the environment has no ONLOOKER_NOT_SET"),
    ],
)
def test_a_wrong_option_is_named_when_it_is_opened(tmp_path, options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        KAFKA.open(options, tmp_path)
