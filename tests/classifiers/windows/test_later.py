"""A registry value or a service that names a program tells what will run later, and a value that names none tells nothing."""

import pytest

from classifiers.context import Context
from classifiers.surface import CallParts, surface_named

NT = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
WIN = r"Software\Microsoft\Windows\CurrentVersion"
CONTROL = r"HKLM\SYSTEM\CurrentControlSet\Control"
SERVICES = r"HKLM\SYSTEM\CurrentControlSet\Services"


def runs(kind, command):
    """Every deferred effect, short, and whether the action is complete."""
    action = surface_named(kind).classify(CallParts(kind, {"command": command}), Context(shell=kind, max_ms=5_000))
    later = [e for e in action.effects if e.condition == "deferred"]
    return [f"{e.action} {e.domain}:{e.target or '?'}" for e in later], action.complete


PROGRAMS = [
    rf'reg add HKCU\{WIN}\Run /v Sweep /d "cmd /c del E:\sweep\old.log" /f',
    r'sc create Sweep binPath= "cmd /c del E:\sweep\old.log" start= auto',
    r'sc config Sweep binPath="cmd /c del E:\sweep\old.log"',
    r'sc \\web1.example create Sweep binPath= "cmd /c del E:\sweep\old.log"',
    r'sc failure Sweep reset= 60 command= "cmd /c del E:\sweep\old.log"',
]


@pytest.mark.parametrize("command", PROGRAMS)
def test_a_command_in_a_setting_is_read(command):
    assert runs("cmd", command) == ([r"delete filesystem:E:\sweep\old.log"], True)


NAMED = [
    (rf'"HKLM\{WIN}\RunOnce" /v Up /d "\"E:\My Tools\up.exe\" /q"', r"execute process:E:\My Tools\up.exe"),
    (rf'"HKLM\{WIN}\Policies\Explorer\Run" /v Up /d "E:\My Tools\up.exe /q"', r"execute process:E:\My Tools\up.exe"),
    (rf'"{NT}\Winlogon" /v Shell /d "explorer.exe, E:\sh.exe"', r"execute process:E:\sh.exe"),
    (rf'"{NT}\Image File Execution Options\magnify.exe" /v Debugger /d E:\dbg.exe', r"execute process:E:\dbg.exe"),
    (rf'"{NT}\Windows" /v AppInit_DLLs /d E:\hook.dll', r"execute code:E:\hook.dll"),
    (rf'"HKLM\{WIN}\App Paths\wordy.exe" /ve /d E:\wordy.exe', r"execute process:E:\wordy.exe"),
    (rf'"HKLM\{WIN}\Explorer\MyComputer\CleanupPath" /ve /d E:\cl.exe', r"execute process:E:\cl.exe"),
    (r"HKCU\Software\Classes\acmefile\shell\edit\command /ve /d E:\ed.exe", r"execute process:E:\ed.exe"),
    (r"HKCU\Software\Classes\CLSID\{0a0b0c0d-1111-2222-3333-444455556666}\InprocServer32 /ve /d E:\in.dll", r"execute code:E:\in.dll"),
    (r"HKCU\Software\Classes\CLSID\{0a0b0c0d-1111-2222-3333-444455556666}\LocalServer32 /ve /d E:\lo.exe", r"execute process:E:\lo.exe"),
    (rf"{CONTROL}\Print\Monitors\Acme /v Driver /d E:\mon.dll", r"execute code:E:\mon.dll"),
    (rf'{CONTROL}\Lsa /v "Notification Packages" /t REG_MULTI_SZ /d "scecli\0acmefilter"', "execute code:acmefilter"),
    (rf"{SERVICES}\W32Time\TimeProviders\Acme /v DllName /d E:\time.dll", r"execute code:E:\time.dll"),
    (rf"{SERVICES}\acme\Parameters /v ServiceDll /d E:\svc.dll", r"execute code:E:\svc.dll"),
    (rf"{SERVICES}\acme /v ImagePath /d E:\acme.exe", r"execute process:E:\acme.exe"),
    (r"HKLM\SOFTWARE\Microsoft\NetSh /v acme /d E:\helper.dll", r"execute code:E:\helper.dll"),
    (r'"HKLM\SOFTWARE\Microsoft\Active Setup\Installed Components\Acme" /v StubPath /d E:\stub.exe', r"execute process:E:\stub.exe"),
    (r'"HKCU\Control Panel\Desktop" /v SCRNSAVE.EXE /d E:\stars.scr', r"execute process:E:\stars.scr"),
    (r'"HKCU\Software\Microsoft\Terminal Server Client\Default\AddIns\Acme" /v Name /d E:\rdp.dll', r"execute code:E:\rdp.dll"),
    (rf"HKCU\{WIN}\Run /v Up /d %WHAT%", "execute process:?"),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "expected"), NAMED)
def test_a_setting_that_names_a_file_runs_it_later(setting, expected):
    assert runs("cmd", f"reg add {setting} /f") == ([expected], False)


@pytest.mark.parametrize("setting", [
    rf'"{NT}\Winlogon" /v AutoAdminLogon /d 1',
    rf'"{NT}\Winlogon" /v Userinit /d "C:\Windows\system32\userinit.exe,"',
    rf'"{NT}\Winlogon" /v Shell /d explorer.exe',
    rf"{SERVICES}\acme /v Start /t REG_DWORD /d 4",
    r'"HKCU\Control Panel\Desktop" /v Wallpaper /d E:\hills.bmp',
    r"HKLM\SOFTWARE\Acme /v Plugin /d E:\plug.dll",
])  # fmt: skip
def test_a_setting_that_names_nothing_to_run_tells_nothing_more(setting):
    assert runs("cmd", f"reg add {setting} /f") == ([], True)


POWERSHELL = [
    (rf"Set-ItemProperty -Path HKCU:\{WIN}\Run -Name Up -Value 'E:\up.exe'", [r"execute process:E:\up.exe"]),
    (rf"New-ItemProperty HKCU:\{WIN}\RunOnce -Name Up -Value $up", ["execute process:?"]),
    (r"sp HKLM:\SYSTEM\CurrentControlSet\Services\acme\Parameters ServiceDll 'E:\svc.dll'", [r"execute code:E:\svc.dll"]),
    (r"New-Item HKCU:\Software\Classes\acme\shell\open\command -Value 'E:\op.exe' -Force", [r"execute process:E:\op.exe"]),
    (r"Set-Item HKCU:\Software\Classes\acme\shell\open\command -Value 'E:\op.exe'", [r"execute process:E:\op.exe"]),
    (r"New-Service -Name acme -BinaryPathName 'E:\acme.exe -k'", [r"execute process:E:\acme.exe"]),
    (rf"[Microsoft.Win32.Registry]::SetValue('HKEY_CURRENT_USER\{WIN}\Run', 'Up', 'E:\up.exe')", [r"execute process:E:\up.exe"]),
    (rf"(New-Object -ComObject WScript.Shell).RegWrite('HKCU\{WIN}\Run\Up', 'E:\up.exe')", [r"execute process:E:\up.exe"]),
    (r"$a = New-ScheduledTaskAction -Execute 'E:\job.exe'", [r"execute process:E:\job.exe"]),
    (r"Set-ItemProperty HKLM:\SOFTWARE\Acme -Name Plugin -Value 'E:\plug.dll'", []),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), POWERSHELL)
def test_what_powershell_writes_runs_later_too(command, expected):
    assert runs("powershell", command) == (expected, not expected)


def test_a_program_with_a_window_keeps_its_name_in_a_task():
    task = "Register-ScheduledTask -TaskName Sums -Action (New-ScheduledTaskAction -Execute calc.exe)"
    assert runs("powershell", task) == (["execute process:calc.exe"], True)


@pytest.mark.parametrize("command", [
    r"Register-ScheduledJob -Name Sweep -ScriptBlock { Remove-Item E:\sweep.log }",
    r"Register-EngineEvent PowerShell.Exiting -Action { Remove-Item E:\sweep.log }",
])  # fmt: skip
def test_a_block_that_is_kept_runs_later(command):
    assert runs("powershell", command) == ([r"delete filesystem:E:\sweep.log"], True)
