"""Effect lines with holes, and what collects effects."""

import pytest

from classifiers.context import Context
from classifiers.effects import Action, Domain, Effect, FlowKind, Opaque, OpaqueReason, Surface, Tag, Verb
from classifiers.gather import MAX_EFFECTS, Gather
from classifiers.templates import Given, fill, template

HERE = Context(cwd="/srv")


def filled(line, **given):
    made = fill(line, lambda key: next((given[k] for k in key.split("|") if k in given), None), HERE)
    return None if made is None else str(made)


CASES = [
    (
        "delete filesystem:{path:a} recursive",
        {"a": Given("x")},
        "delete filesystem:/srv/x recursive path_scope=workspace",
    ),
    ("send messaging:{text:a}/{text:b}", {"a": Given("x"), "b": Given("y")}, "send messaging:x/y"),
    ("receive network:{host:a}", {"a": Given("https://One.example/z")}, "receive network:one.example"),
    ("read vcs:{text:a?}", {}, None),
    ("read vcs:{text:a=*}", {}, "read vcs:*"),
    ("read vcs:{text:a}", {}, "read vcs"),
    ("read vcs:{text:a}", {"a": Given(None, "$X")}, "read vcs:? raw=$X"),
    ("read vcs:{text:b|a}", {"a": Given("x")}, "read vcs:x"),
    (
        "modify filesystem:{beside:a>b}",
        {"a": Given("/srv/old.txt"), "b": Given("new.txt")},
        "modify filesystem:/srv/new.txt path_scope=workspace",
    ),
    (
        "modify filesystem:{beside:a>b}",
        {"a": Given("/old.txt"), "b": Given("new.txt")},
        "modify filesystem:/new.txt path_scope=outside",
    ),
    (
        "modify filesystem:{beside:a>b}",
        {"a": Given("C:\\x\\old.txt"), "b": Given("n")},
        'modify filesystem:"C:\\\\x\\\\n" path_scope=outside',
    ),
    ("modify filesystem:{beside:a>b}", {"a": Given(None, "$X"), "b": Given("n")}, "modify filesystem:? raw=$X"),
    (
        "create filesystem:{below:a>b}",
        {"a": Given("/srv"), "b": Given("n")},
        "create filesystem:/srv/n path_scope=workspace",
    ),
    ("create filesystem:{below:a>b}", {"a": Given("/srv/d")}, "create filesystem:/srv/d path_scope=workspace"),
]


@pytest.mark.parametrize(("line", "given", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_hole_takes_its_argument(line, given, expected):
    assert filled(line, **given) == expected


def test_a_line_outside_the_vocabulary_is_refused():
    with pytest.raises(ValueError, match="explode"):
        template("explode filesystem:/a")


def test_the_same_effect_is_put_once():
    out = Gather(Surface.CODE)
    assert [out.add(Domain.VCS, Verb.READ, "a"), out.add(Domain.VCS, Verb.READ, "a")] == [0, 0]
    assert len(out.action().effects) == 1


def test_a_flood_of_effects_is_cut_off_and_said():
    out = Gather(Surface.CODE)
    for i in range(MAX_EFFECTS + 5):
        out.add(Domain.VCS, Verb.READ, str(i))
    action = out.action()
    assert len(action.effects) == MAX_EFFECTS
    assert [o.reason for o in action.opaque] == [OpaqueReason.SIZE_CAP]


def test_an_inner_action_keeps_its_flows_and_what_is_opaque():
    inner = Gather(Surface.CODE)
    read, sent = inner.add(Domain.SECRETS, Verb.READ, "k"), inner.add(Domain.NETWORK, Verb.SEND, "h")
    inner.flow(FlowKind.EXFILTRATION, read, sent)
    inner.hide(OpaqueReason.PARSE_ERROR, (1, 2), "x")
    out = Gather(Surface.SHELL, at="arguments.command")
    out.add(Domain.VCS, Verb.READ, "a")
    out.absorb(inner.action(), via=("python",), span=(3, 9))
    action = out.action()
    assert [(f.source, f.sink) for f in action.flows] == [(1, 2)]
    assert action.effects[1].via == ("python",)
    assert (action.effects[1].evidence.path, action.effects[1].evidence.start) == ("arguments.command", 3)
    assert action.opaque == (Opaque(OpaqueReason.PARSE_ERROR, (3, 9), "x"),)


def test_a_secret_and_a_send_in_one_place_are_a_flow():
    out = Gather(Surface.BROWSER)
    out.add(Domain.SECRETS, Verb.READ, "k")
    out.add(Domain.NETWORK, Verb.SEND, "h")
    out.pipe_secrets_out()
    assert Tag.EXFILTRATION in out.action().effects[1].tags


def test_an_action_without_effects_is_an_action():
    assert Gather(Surface.SEARCH).action() == Action(Surface.SEARCH)
    assert Effect.parse("read vcs") == Effect(Domain.VCS, Verb.READ)
