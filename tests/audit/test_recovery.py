"""A log that ended badly is taken up again, and says so."""

import orjson
import pytest

from audit.checkpoint import load_signer
from audit.files import segments
from audit.segment_reader import lines_of
from audit.verify import verify
from audit.writer import Limits
from tests.audit.build import action_record, open_log


def only_segment(folder):
    return next(s for s in segments(folder / "audit") if s.path).path


def records_of(folder):
    return [orjson.loads(x) for s in segments(folder / "audit") if s.path for x in lines_of(s.path)]


@pytest.mark.parametrize("torn", [b"{", b'{"schema":"onlooker.record/1","kind":"act', b"\x00" * 70_000])
def test_a_torn_line_is_cut_off_and_counted(tmp_path, torn):
    with open_log(tmp_path) as log:
        log.append(action_record())
    with only_segment(tmp_path).open("ab") as file:
        file.write(torn)
    with open_log(tmp_path) as again:
        again.append(action_record())
    recovered = [r for r in records_of(tmp_path) if r["kind"] == "recovered"]
    assert [r["recovery"]["torn_bytes"] for r in recovered] == [len(torn)]
    assert again.log_id == log.log_id


def test_an_end_without_a_checkpoint_is_an_unclean_end(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
    path = only_segment(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with open_log(tmp_path):
        pass
    assert [r["kind"] for r in records_of(tmp_path)][-2:] == ["recovered", "checkpoint"]


def test_a_new_file_whose_header_never_made_it_gets_one(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        log.rotate()
    second = max(s.path for s in segments(tmp_path / "audit") if s.path)
    second.write_bytes(b"")
    with open_log(tmp_path) as again:
        again.append(action_record())
    kinds = [r["kind"] for r in records_of(tmp_path)]
    assert kinds.count("segment") == 2
    assert again.log_id == log.log_id


def test_a_broken_file_is_left_alone_and_a_new_log_names_it(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
    path = only_segment(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with open_log(tmp_path) as again:
        assert again.log_id != log.log_id
        recovery = next(r for r in again.tail(5) if r["kind"] == "recovered")["recovery"]
        assert recovery["previous_log"] == log.log_id
        assert "broken at seq" in recovery["reason"]
    assert path.read_bytes() == bytes(data)


def test_another_signing_key_begins_another_log(tmp_path):
    with open_log(tmp_path) as log:
        pass
    with open_log(tmp_path, signer=load_signer(tmp_path / "other.pem")) as again:
        assert again.log_id != log.log_id
        assert "key changed" in next(r for r in again.tail(5) if r["kind"] == "recovered")["recovery"]["reason"]


def test_the_chain_goes_on_across_files_after_a_restart(tmp_path):
    limits = Limits(segment_bytes=5000, idle_s=30)
    for _ in range(4):
        with open_log(tmp_path, limits=limits) as log:
            for _ in range(9):
                log.append(action_record())
    seqs = [r["seq"] for r in records_of(tmp_path)]
    assert seqs == list(range(len(seqs)))
    assert len({r["log_id"] for r in records_of(tmp_path)}) == 1
    assert log.next_seq == len(seqs)


def test_a_rotation_that_died_after_its_manifest_leaves_the_file_open(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        log.rotate()
    (tmp_path / "audit" / f"{log.log_id}.000002.jsonl").unlink()
    with open_log(tmp_path) as again:
        again.append(action_record())
        assert again.log_id == log.log_id
    assert verify(tmp_path / "audit")[0].answer == "valid"
    assert len(list(segments(tmp_path / "audit"))) == 1
