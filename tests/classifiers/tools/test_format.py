"""Tool maps are checked when they are read: one clear sentence for each mistake, and every shipped file is right."""

import pytest

from classifiers.datafile import tables
from classifiers.tools.format import ToolMapError, read_entries

WRONG = [
    ([], "tools is a mapping"),
    ({"x": 3}, "x: an entry is a mapping"),
    ({"x": {}}, "x: nothing says how to read it"),
    ({"x": {"surface": "shel"}}, "surface 'shel' is not known"),
    ({"x": {"surface": "shell", "role": {}}}, "unknown key 'role'"),
    ({"x": {"effects": ["delete filesystems:/a"]}}, "x: 'filesystems' is not a valid Domain"),
    ({"x": {"effects": "read vcs"}}, "effects is a list of lines"),
    ({"x": {"surface": "shell", "roles": {"command": 3}}}, "roles.command: expected argument names"),
    ({"x": {"effects": [], "open": "maybe"}}, "open 'maybe' is not known"),
    ({"x": {"wraps": {"lists": "a"}}}, "wraps 'lists' is not known"),
]


@pytest.mark.parametrize(("tools", "message"), WRONG, ids=[m for _, m in WRONG])
def test_a_mistake_is_named_with_its_tool(tools, message):
    with pytest.raises(ToolMapError, match=message.replace("(", r"\(")):
        read_entries(tools, "onlooker.yaml")


@pytest.mark.parametrize(("name", "values"), tables("tools"), ids=lambda v: v if isinstance(v, str) else "")
def test_a_shipped_map_is_right_and_names_its_source(name, values):
    assert values["source"]
    assert read_entries(values["tools"], name)
