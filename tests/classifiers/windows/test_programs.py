"""Windows programs and places: tables that load, words told apart, paths and keys that say what they are for."""

import pytest

from classifiers.context import NOWHERE
from classifiers.datafile import tables
from classifiers.effects import Domain, Effect, Surface, Verb
from classifiers.gather import Gather
from classifiers.windows.places import is_registry, placed
from classifiers.windows.powershell_line import Place
from classifiers.windows.programs import Arguments, knows, program_name, run_program


@pytest.mark.parametrize(("name", "values"), tables("windows/programs"), ids=lambda v: v if isinstance(v, str) else "")
def test_a_table_of_programs_names_its_source_and_is_known(name, values):
    assert values["source"]
    assert all(knows(program) for names in values["programs"] for program in names.split("|"))


@pytest.mark.parametrize(("word", "expected"), [
    ("reg", "reg"), ("REG.EXE", "reg"), (r"C:\Windows\System32\cmd.exe", "cmd"), ("/opt/x/tool.bat", "tool"), ('"C:\\a b\\x.com"', "x"),
])  # fmt: skip
def test_a_program_is_named_by_its_file(word, expected):
    assert program_name(word) == expected


def test_a_switch_has_its_value_after_it_or_in_it():
    given = Arguments(["/create", "/tn", "tidy", "-sc:daily", "C:\\a"])
    assert given.lookup("/tn").text == "tidy"
    assert given.lookup("-sc").text == "daily"
    assert given.lookup("-1").text == "C:\\a"
    assert given.lookup("/nothing") is None


def test_every_value_of_a_switch_that_is_given_again_is_found_where_it_stands():
    given = Arguments(["/pid", "7", "-pid:8", "/f", "/PID", "9", "/pid=10", "/pid", None, None])
    assert [g.text for g in given.each("/pid|-pid")] == ["7", "8", "9", "10", None]


def test_a_hole_asks_for_a_part_an_attached_value_or_a_group():
    given = Arguments(["/s:D:\\w", ".w7=txtfile", "/u", "ann"], "x", frozenset({"/u"}), {"who": "bea"})
    assert given.plain == [".w7=txtfile"]
    assert given.lookup("0<").text == ".w7"
    assert given.lookup("/s:").text == "D:\\w"
    assert given.lookup("/u:") is None
    assert given.lookup("@who|0").text == "bea"
    assert given.lookup("@none") is None


def test_a_word_nobody_knows_is_an_unknown_target():
    out = Gather(Surface.CMD)
    run_program(["del", None], Place((0, 3), NOWHERE), out)
    assert [(e.target, e.target_raw) for e in out.effects] == [(None, "?")]


PLACES = [
    ("read", r"C:\Windows\System32\config\SAM", "secrets", "system", "credential", ()),
    ("modify", r"C:\Windows\System32\drivers\etc\hosts", "network_config", "system", "none", ()),
    ("create", r"C:\Users\x\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Startup\a.lnk", "filesystem", "home", "shell_startup", ("persistence",)),
    ("read", r"C:\data\a.txt", "filesystem", None, "none", ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "path", "expected"), [(p[0], p[1], p[2:]) for p in PLACES], ids=[p[1] for p in PLACES]
)
def test_a_path_says_what_lies_there(verb, path, expected):
    got = placed(Effect(Domain.FILESYSTEM, Verb(verb), path))
    assert (got.domain, got.path_scope, got.sensitivity, got.tags) == expected


KEYS = [
    (r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run", "scheduler", ("persistence",)),
    (r"HKLM:\SYSTEM\CurrentControlSet\Services\web", "services", ("persistence",)),
    (r"HKLM\SOFTWARE\Policies\Microsoft\Windows Defender\DisableAntiSpyware", "services", ("defense_evasion",)),
    (r"HKCU\Software\Acme", "environment", ()),
]


@pytest.mark.parametrize(("key", "domain", "tags"), KEYS, ids=[k[0] for k in KEYS])
def test_a_key_says_what_it_configures(key, domain, tags):
    got = placed(Effect(Domain.FILESYSTEM, Verb.MODIFY, key))
    assert is_registry(key)
    assert (got.domain, got.tags) == (domain, tags)
