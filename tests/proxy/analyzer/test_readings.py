"""Two names for one call: the record has what either would do."""

from __future__ import annotations

import json

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from proxy.analyzer.readings import read_in_all_ways


def read(name, arguments, *others):
    extra = {"other_names": list(others)} if others else {}
    call = ToolCall(name, arguments, json.dumps(arguments), arguments_valid=True, extra=extra)
    return read_in_all_ways(call, lambda one: classify(one, Context()))


def test_the_worse_reading_is_on_the_record():
    path = {"path": "/srv/reports/2030.csv"}
    mild, worse = read("read_file", path), read("delete_file", path)
    both = read("read_file", path, "delete_file")
    assert both.effects == (*mild.effects, *worse.effects)
    assert (mild.destructive, both.destructive) == (False, True)
    assert "also read as delete_file" in both.notes


def test_equal_readings_are_one():
    path = {"path": "/srv/reports/2030.csv"}
    assert read("read_file", path, "read_file") == read("read_file", path)
