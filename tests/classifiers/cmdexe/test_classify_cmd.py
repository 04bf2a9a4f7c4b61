"""cmd.exe text: how it is cut, what its programs do, what is unresolved."""

import pytest

from classifiers.cmdexe import classify_cmd
from classifiers.cmdexe.split import commands, words
from classifiers.context import Context
from classifiers.effects import OpaqueReason


def short(action):
    return [f"{e.action} {e.domain}:{e.target}" for e in action.effects]


SPLITS = [
    ("a & b && c || d | e", ["a", "b", "c", "d", "e"]),
    ("echo a^&b & c", ["echo a&b", "c"]),
    ('echo "a & b" & c', ['echo "a & b"', "c"]),
    ("a ^\r\n  b", ["a   b"]),
    ("(a & b) & c", ["a", "b", "c"]),
    ("if exist x (del x) else (del y)", ["if exist x", "del x", "else", "del y"]),
    ("tool a=(b(c)) & d", ["tool a=(b(c))", "d"]),
    ("dir > a.txt 2>&1", ["dir"]),
    ("echo a^>b", ["echo a>b"]),
    ("> a.txt (dir & ver)", ["", "dir", "ver"]),
    ("dir 2>&1>a.txt", ["dir"]),
    (":label\nrem words\n@echo off", ["echo off"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SPLITS, ids=[t for t, _ in SPLITS])
def test_a_line_is_cut_as_cmd_cuts_it(text, expected):
    assert [c.text for c in commands(text)] == expected


def test_quotes_make_one_word_and_are_taken_off():
    assert words('copy "C:\\a b\\c" d"e f"') == ["copy", "C:\\a b\\c", "de f"]


CASES = [
    (r"del /s /q C:\data\*", ["delete filesystem:C:\\data\\*"]),
    (r"rd /s /q C:\data", ["delete filesystem:C:\\data"]),
    (r"mkdir C:\data", ["create filesystem:C:\\data"]),
    (r"copy C:\a C:\b", ["read filesystem:C:\\a", "modify filesystem:C:\\b"]),
    (r"echo x > C:\a.txt", ["modify filesystem:C:\\a.txt"]),
    ("dir >nul 2>&1", ["read filesystem:."]),
    (r"reg add HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v up /d notepad.exe /f", ["modify scheduler:HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\up", "execute process:notepad.exe"]),
    (r"reg delete HKLM\Software\Acme /f", ["delete environment:HKLM\\Software\\Acme"]),
    (r"reg query HKLM\Software\Acme", ["read environment:HKLM\\Software\\Acme"]),
    (r"reg save HKLM\SAM C:\sam.hiv", ["read secrets:HKLM\\SAM", "modify filesystem:C:\\sam.hiv"]),
    ("vssadmin delete shadows /all /quiet", ["delete storage:None"]),
    ("wevtutil cl Security", ["delete services:log:Security"]),
    ("net user helper Pass1 /add", ["create identity:user:helper"]),
    ("net localgroup administrators helper /add", ["grant identity:user:helper"]),
    ("sc create updater binPath= calc.exe", ["create services:service:updater", "execute process:calc.exe"]),
    ("taskkill /f /im agent.exe", ["control process:agent.exe"]),
    ("rem old rd /s /q C:\\a & del b", []),
    ("rem & del b", ["delete filesystem:b"]),
    ("rem old & x\ndel b", ["delete filesystem:b"]),
    ("ipconfig /all", ["read network_config:None"]),
    ('cmd /c "del C:\\a & del C:\\b"', ["delete filesystem:C:\\a", "delete filesystem:C:\\b"]),
    (r"for %f in (a b) do del C:\%f", ["delete filesystem:C:\\a", "delete filesystem:C:\\b"]),
    (r"set D=C:\data& rd /s /q %D%", ["delete filesystem:C:\\data"]),
    (r"if exist C:\a del C:\a", ["delete filesystem:C:\\a"]),
    ("set A=1", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[t for t, _ in CASES])
def test_a_command_has_the_effects_of_its_words(text, expected):
    action = classify_cmd(text)
    assert short(action) == expected
    assert action.complete


def test_a_variable_nobody_set_is_an_unknown_target_with_its_place():
    (effect,) = classify_cmd(r"del %TEMP%\a.log").effects
    assert (effect.target, effect.target_raw, effect.path_scope) == (None, r"%TEMP%\a.log", "temp")


def test_a_scheduled_command_is_read_as_deferred():
    action = classify_cmd('schtasks /create /tn tidy /sc daily /tr "cmd /c del C:\\a"')
    assert [e.condition for e in action.effects] == ["always", "deferred"]
    assert action.effects[1].target == "C:\\a"


def test_an_encoded_command_is_decoded():
    action = classify_cmd("powershell -nop -e UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAQwA6AFwAYQA=")
    assert short(action) == ["delete filesystem:C:\\a"]
    assert action.effects[0].certainty == "decoded"


def test_a_program_nobody_described_is_opaque():
    action = classify_cmd(r"C:\tools\frobnicate.exe /x")
    assert [o.reason for o in action.opaque] == [OpaqueReason.UNKNOWN_EXECUTABLE]


def test_text_piped_into_a_shell_is_not_read():
    assert not classify_cmd("type a.txt | cmd").complete


@pytest.mark.parametrize(
    "text", ["", "(" * 3000, "^" * 3000, "for " * 2000, 'cmd /c "' * 300, "%a%" * 4000, "&|" * 4000]
)
def test_hostile_text_never_raises(text):
    assert classify_cmd(text, Context()).effects is not None
