"""A relative path of Windows is below the folder the call stands in, or the one it has gone to."""

import pytest

from classifiers.context import Context
from classifiers.surface import CallParts, surface_named

CASES = [
    ("powershell", r"C:\shop", r"Remove-Item .\build", r"C:\shop\build"),
    ("powershell", r"C:\shop", "Remove-Item build", r"C:\shop\build"),
    ("powershell", r"C:\shop", r"Remove-Item ..\x", r"C:\x"),
    ("powershell", r"C:\shop", "Set-Location sub; Remove-Item a.txt", r"C:\shop\sub\a.txt"),
    ("powershell", "/home/dev/shop", "Set-Location sub; Remove-Item a.txt", "/home/dev/shop/sub/a.txt"),
    ("powershell", r"C:\shop", "Set-Location $there; Remove-Item a.txt", "a.txt"),
    ("powershell", r"C:\shop", "Push-Location sub; Pop-Location; Remove-Item a.txt", "a.txt"),
    ("powershell", r"C:\shop", r"Remove-Item D:\x", r"D:\x"),
    ("cmd", r"C:\shop", "del a.txt", r"C:\shop\a.txt"),
    ("cmd", r"C:\shop", r"cd sub && del a.txt", r"C:\shop\sub\a.txt"),
    ("cmd", "/home/dev/shop", "cd sub && del a.txt", "/home/dev/shop/sub/a.txt"),
    ("cmd", r"C:\shop", r"del \x\y", r"\x\y"),
]


@pytest.mark.parametrize(("kind", "cwd", "command", "target"), CASES)
def test_a_relative_path_is_below_the_folder(kind, cwd, command, target):
    context = Context(cwd=cwd, max_ms=5_000)
    action = surface_named(kind).classify(CallParts(kind, {"command": command}), context)
    assert [e.target for e in action.effects if e.action == "delete"] == [target]
