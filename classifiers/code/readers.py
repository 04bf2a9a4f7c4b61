"""The readers that library tables name (``run:``): a call and its entry in, its value out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from classifiers.code import file_readers, name_readers, run_readers
from classifiers.code.library import Known
from classifiers.code.values import Value

if TYPE_CHECKING:
    from classifiers.code.calls import Site

READERS: dict[str, Callable[[Site, Known], Value | None]] = {
    "shell": run_readers.shell,
    "words": run_readers.words,
    "code": run_readers.code,
    "sql": run_readers.sql,
    "http": run_readers.http,
    "connect": run_readers.connect,
    "pip": run_readers.pip,
    "file": file_readers.file,
    "load": file_readers.load,
    "save": file_readers.save,
    "chdir": file_readers.chdir,
    "verb": name_readers.verb,
    "member": name_readers.member,
    "module": name_readers.module,
}
