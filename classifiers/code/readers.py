"""The readers that library tables name (``run:``): a call and its entry in, its value out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from classifiers.code import (
    client_readers,
    document_readers,
    feeding,
    file_readers,
    name_readers,
    run_readers,
    setting_readers,
)
from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.effects import Effect
from classifiers.powershell import binding, found, instances, objects, settings, stdreg
from classifiers.powershell import readers as powershell
from classifiers.powershell.strangers import stranger
from classifiers.windows.places import placed

if TYPE_CHECKING:
    from classifiers.code.calls import Site

READERS: dict[str, Callable[[Site, Known], Value | None]] = {
    "shell": run_readers.shell,
    "words": run_readers.words,
    "code": run_readers.code,
    "sql": run_readers.sql,
    "http": run_readers.http,
    "request": run_readers.request,
    "feed": feeding.feed,
    "connect": run_readers.connect,
    "pip": run_readers.pip,
    "file": file_readers.file,
    "piped": file_readers.piped,
    "load": file_readers.load,
    "written": file_readers.written,
    "written_if": file_readers.written_if,
    "save": file_readers.save,
    "chdir": file_readers.chdir,
    "verb": name_readers.verb,
    "resource": name_readers.resource,
    "document": document_readers.document,
    "git_words": client_readers.git_words,
    "cluster": client_readers.cluster,
    "docker_run": client_readers.docker_run,
    "aws_client": client_readers.aws_client,
    "aws_command": client_readers.aws_command,
    "aws_method": client_readers.aws_method,
    "part": name_readers.part,
    "paged": name_readers.paged,
    "awaited": name_readers.awaited,
    "partial": name_readers.partial,
    "member": name_readers.member,
    "module": name_readers.module,
    "coderef": name_readers.coderef,
    "taken": name_readers.taken,
    "table": name_readers.table,
    "constant_named": name_readers.constant_named,
    "own_member": name_readers.own_member,
    "mixed_in": name_readers.mixed_in,
    "lookup": name_readers.lookup,
    "curl_handle": setting_readers.curl_handle,
    "curl_option": setting_readers.curl_option,
    "curl_made": setting_readers.curl_made,
    "hook": setting_readers.hook,
    "mode": setting_readers.mode,
    "setting": setting_readers.setting,
    "own_file": file_readers.own_file,
    "own_path": file_readers.own_path,
    "archived": file_readers.archived,
    "own_open": file_readers.own_open,
    "web": powershell.web,
    "process": powershell.process,
    "new_object": powershell.new_object,
    "import": powershell.imported,
    "wmi": instances.wmi,
    "instances": instances.instances,
    "instance_set": instances.instance_set,
    "wmi_class": instances.wmi_class,
    "registry": stdreg.registry,
    "startup": settings.startup,
    "scheduled": settings.scheduled,
    "shortcut": settings.shortcut,
    "block": powershell.block,
    "opened": powershell.opened,
    "narrowed": found.narrowed,
    "unpacked": found.unpacked,
    "alias": objects.alias,
    "bits": powershell.bits,
    "drive": objects.drive,
    "removed": instances.removed,
    "each": objects.each,
    "property": objects.prop,
    "later": settings.later,
    "saved": objects.written,
    "remote": powershell.remote,
    "listed": found.listed,
    "selected": found.selected,
    "divided": found.divided,
    "searched": found.searched,
    "add_type": powershell.add_type,
}
# What a language does with a call nobody described, how it gives arguments, how it names files; else Python's way.
STRANGERS: dict[str, Callable[[Site], Value]] = {"powershell": stranger}
BINDERS: dict[str, Callable[[Site, Known], Site]] = {"powershell": binding.bound}
PLACES: dict[str, Callable[[Effect], Effect]] = {"powershell": placed}
