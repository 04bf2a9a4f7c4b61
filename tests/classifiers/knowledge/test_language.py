"""The language of command files: what it can say, and how its mistakes are told."""

import pytest

from classifiers.knowledge.build import build
from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.interpret import interpret
from classifiers.knowledge.reading import Handed, Hidden, Told
from classifiers.knowledge.words import Unknowns, Word
from classifiers.strict_yaml import StrictYamlError

HEAD = "family: f\nsource: s\ncommands:\n"


VERSIONED = """  "v":
    help: "--help -h -v"
    options: {"-V": {instead: []}}
    subcommands: {"pull": {effects: ["receive vcs"]}}
"""


@pytest.mark.parametrize("line", ["v pull -v", "v pull -V", "v pull"])
def test_a_programs_version_option_is_not_its_subcommands(line):
    assert read(VERSIONED, line) == ["receive vcs:None"]


CLUSTERED = """  "c":
    options: {"-f|--force|-q": {value: optional}, "-s|--sign": {value: true, effects: ["modify filesystem:{}"]}}
    effects: []
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [("c -fs key", ["modify filesystem:key"]), ("c -fqs key", ["modify filesystem:key"]), ("c -fzs key", [])],
)
def test_letters_after_a_letter_whose_value_means_nothing_are_options_too(line, expected):
    assert read(CLUSTERED, line) == expected


ASKING = """  "a":
    options: {"--all": {}}
    operands: ["read filesystem:{}"]
    subcommands: {"sub": {operands: [{role: x}], effects: ["read packages"]}}
    unknown_subcommand: operand
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a --name b c", ["hidden a --name", "read filesystem:b", "read filesystem:c"]),
        ("a --max-count 3 c", ["hidden a --max-count", "read filesystem:3", "read filesystem:c"]),
        ("a --name=b c", ["read filesystem:c"]),  # it has its value with it
        ("a c --name", ["read filesystem:c"]),  # nothing follows that could be one
        ("a --all c", ["read filesystem:c"]),
        ("a --no-color c", ["read filesystem:c"]),
        ("a --skip-name c", ["read filesystem:c"]),
        ("a -o out.bin c", ["hidden a -o", "read filesystem:out.bin", "read filesystem:c"]),
        ("a -o c", ["read filesystem:c"]),  # no file's name
        ("a --raw=out.bin c", ["hidden a --raw=out.bin", "read filesystem:c"]),
        ("a --raw=d/out c", ["hidden a --raw=d/out", "read filesystem:c"]),
        ("a --raw=2.5 --like='*.c' --ratio=4/ c", ["read filesystem:c"]),  # no names of files
        ("a sub --name b", ["read packages:None"]),  # an operand means nothing there
    ],
)
def test_an_unlisted_option_that_asks_for_a_value_is_not_passed_over_before_an_operand(line, expected):
    assert sorted(read(ASKING, line)) == sorted(expected)


def read(body, line, head=HEAD):
    compiled = compile_file(head + body, "x.yaml")
    name, *rest = line.split()
    reading = interpret(
        build(compiled[name], "x.yaml"), Word(name), [Word(w, (i, i + 1)) for i, w in enumerate(rest, 1)]
    )
    return [said(i) for i in reading.items]


def said(item):
    if isinstance(item, Told):
        return f"{item.action} {item.domain}:{item.target}"
    if isinstance(item, Handed):
        return f"{item.to.kind} {' '.join(w.text for w in item.words)}"
    assert isinstance(item, Hidden)
    return f"hidden {item.text}"


TOOL = """  "t":
    takes_value: "-x|--extra"
    options:
      "-o|--output": {value: true, effects: ["modify filesystem:{}"]}
      "-d": {value: true, fills: to}
      "-n|--dry-run": {dry_run: true}
      "-e|--eval": {value: true, delegate: shell}
      "--mode": {value: optional, by_value: {"safe": {instead: []}}}
    operands: ["read filesystem:{}", {role: to, at: last, effects: ["create filesystem:{}"]}]
"""
CASES = [
    ("t a b", ["read filesystem:a", "create filesystem:b"]),
    ("t -d b a", ["read filesystem:a", "create filesystem:b"]),
    ("t -o out a b", ["modify filesystem:out", "read filesystem:a", "create filesystem:b"]),
    ("t -oout a b", ["modify filesystem:out", "read filesystem:a", "create filesystem:b"]),
    ("t --output=out a b", ["modify filesystem:out", "read filesystem:a", "create filesystem:b"]),
    ("t --outp out a b", ["modify filesystem:out", "read filesystem:a", "create filesystem:b"]),
    ("t -x v a b", ["read filesystem:a", "create filesystem:b"]),
    ("t -zqxv a b", ["read filesystem:a", "create filesystem:b"]),
    ("t -n a b", ["read filesystem:a", "read filesystem:b"]),
    ("t -- -n b", ["read filesystem:-n", "create filesystem:b"]),
    ("t -e ls a b", ["shell ls", "read filesystem:a", "create filesystem:b"]),
    ("t --mode=safe a b", []),
    ("t --mode a b", ["read filesystem:a", "create filesystem:b"]),
    ("t --help a b", []),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_options_and_operands_are_told_apart(line, expected):
    assert read(TOOL, line) == expected


CLOUD = """  "c":
    unknown_options: value
    subcommands:
      "vm":
        subcommands:
          "delete-*|rm": {effects: ["delete cloud:c:{region}:{sub1}:{*-id,name:-all}"]}
          "ls": {effects: ["read cloud"]}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c --region eu vm delete-many --disk-id d1", ["delete cloud:c:eu:vm:d1"]),
        ("c vm rm", ["delete cloud:c:*:vm:all"]),
        ("c vm ls --region eu", ["read cloud:None"]),
        ("c vm explode", ["execute process:c", "hidden c vm explode"]),
    ],
)
def test_subcommands_nest_and_templates_are_filled(line, expected):
    assert read(CLOUD, line) == expected


MISTAKES = [
    ('  "t": {operands: ["read filesystem:{} unless=-a", "modify filesystem:{} when=-a"]}\n', "nothing is left for it"),
    ('  "t": {effects: ["remove filesystem:x"]}', "an effect needs an action and a domain of the vocabulary"),
    ('  "t": {effects: ["read filesystem:x loud"]}', "unknown word 'loud'"),
    ('  "t": {efects: []}', "did you mean 'effects'?"),
    ('  "t": {}', "a command says what it does"),
    ('  "t": {options: {"-x": {breadth: wide}}, effects: []}', "'wide' is no breadth"),
    ('  "t": {operands: [{delegate: python}]}', "'python' is no kind of delegation"),
    ('  "t": {style: dos, effects: []}', "'dos' is not known here"),
    ('  "t": {long_options: short, effects: []}', "'short' is not known here; one of shortened, whole"),
    ('  "t|t": {effects: []}', "'t' is described twice"),
    ('  "t": {operands: {a: b}}', "operands is a list"),
    ('  "t": {options: {"-x|--list-*": {}}, effects: []}', "an option is spelled whole: no globs"),
]


@pytest.mark.parametrize(("body", "said_so"), MISTAKES)
def test_a_mistake_is_told_with_its_place(body, said_so):
    with pytest.raises(StrictYamlError) as caught:
        compile_file(HEAD + body + "\n", "x.yaml")
    assert said_so in str(caught.value)
    assert str(caught.value).startswith("x.yaml:4:")


def test_an_unknown_part_is_one_character_and_comes_back_as_written():
    unknowns = Unknowns()
    mark = unknowns.mark("$DIR")
    assert len(mark) == 1
    assert unknowns.reveal(f"a/{mark}/b") == "a/$DIR/b"
    assert unknowns.mark("$DIR") == mark


STRICT = """  "s":
    strict: words
    options: {"-o": {value: true, effects: ["create filesystem:{}"]}, "-l": {}}
    operands: [{role: file, at: first, by_value: {"show": {effects: []}}, effects: ["read filesystem:{}"]}, {role: more}]
  "loose":
    options: {"-n|--number": {value: true}}
    operands: ["read filesystem:{}"]
  "many":
    strict: words
    subcommands: {"get": {operands: ["read filesystem:{}"]}}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s a.txt", ["read filesystem:a.txt"]),
        ("s -l -o out a.txt", ["create filesystem:out", "read filesystem:a.txt"]),
        ("s show", []),
        ("s remove a.txt", ["read filesystem:remove", "hidden s remove"]),
        ("s --wide -l a.txt", ["read filesystem:a.txt"]),
        ("s --width a.txt", ["read filesystem:a.txt", "hidden s --width"]),
        ("s -l9 a.txt --wide", ["read filesystem:a.txt", "hidden s -l9"]),
        ("s --log-file x.txt a.txt", ["read filesystem:x.txt", "hidden s --log-file"]),
        ("s -z a.txt", ["read filesystem:a.txt", "hidden s -z"]),
        ("loose remove -z --wide a.txt", ["read filesystem:remove", "read filesystem:a.txt"]),
        ("loose --delete a.txt", ["read filesystem:a.txt", "hidden loose --delete"]),
        ("loose a.txt -n", ["read filesystem:a.txt", "hidden loose: the value of -n is missing"]),
        ("many get -z a.txt", ["read filesystem:a.txt", "hidden many get -z"]),
        ("loose --zig_out=gen a.txt", ["read filesystem:a.txt", "hidden loose --zig_out=gen"]),
        ("loose --time_out=5 a.txt", ["read filesystem:a.txt"]),
        ("loose --exec=x a.txt", ["read filesystem:a.txt", "hidden loose --exec=x"]),
    ],
)
def test_an_undescribed_option_or_order_is_unread(line, expected):
    assert read(STRICT, line) == expected


def test_a_shortened_name_takes_no_value_where_whole_names_are_the_rule():
    body = '  "s": {options: {"--format": {value: true}}, operands: ["read filesystem:{}"]}\n'
    assert read(body, "s --form a b") == ["read filesystem:b"]
    unread = ["read filesystem:a", "read filesystem:b", "hidden s --form"]
    assert read(body, "s --form a b", "long_options: whole\n" + HEAD) == unread
    assert read(body.replace("{options", "{long_options: whole, options"), "s --form a b") == unread


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s -i a b", ["read filesystem:a", "read filesystem:b"]),
        ("s -ni .old a", ["read filesystem:a"]),
        ("s -i.old .b a", ["read filesystem:.b", "read filesystem:a"]),
        ("s --in-place .old a", ["read filesystem:.old", "read filesystem:a"]),
        ("s -i .old", ["read filesystem:.old"]),
    ],
)
def test_a_suffix_may_stand_apart_behind_a_short_option(line, expected):
    body = '  "s": {options: {"-n": {}, "-i|--in-place": {value: suffix}}, operands: ["read filesystem:{}"]}\n'
    assert read(body, line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c a", ["delete filesystem:a"]),
        ("c -l a", ["read kernel:None", "read filesystem:a"]),
        ("c -x -l a", ["read kernel:None", "read filesystem:a"]),
        ("c -q a", ["read kernel:None"]),
    ],
)
def test_an_option_that_says_what_happens_instead_may_say_what_operands_then_mean(line, expected):
    body = """  "c":
    options:
      "-l": {instead: ["read kernel"], operands: ["read filesystem:{}"]}
      "-q": {instead: ["read kernel"]}
      "-x": {operands: ["modify filesystem:{}"]}
    operands: ["delete filesystem:{}"]
"""
    assert read(body, line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c push a --version 2.1", ["send network:a"]),
        ("c push a --version v3", ["send network:a"]),
        ("c push a --version", []),
        ("c --version push a", []),
    ],
)
def test_a_number_behind_version_says_which_one_is_wanted(line, expected):
    body = '  "c": {subcommands: {"push": {operands: [{role: to, at: first, effects: ["send network:{}"]}, more]}}}\n'
    assert read(body, line) == expected


def test_help_behind_an_operand_is_one_more_operand_where_a_file_says_so():
    body = '  "s": {operands: ["delete filesystem:{}"]}\n'
    assert read(body, "s a --help") == []
    assert read(body, "s a --help", "late_help: operand\n" + HEAD) == ["delete filesystem:a"]
    assert read(body, "s --help a", "late_help: operand\n" + HEAD) == []


@pytest.mark.parametrize(
    ("names", "line", "expected"),
    [
        ("a|b|c|d|e|f", "a x", ["hidden a: told of only together with others", "read filesystem:x"]),
        ("a|b|c|d|e|f", "a get x", ["hidden a get: told of only together with others", "read filesystem:x"]),
        ("a|b|c|d|e|f", "a --version", []),
        ("a|b", "a x", ["read filesystem:x"]),
    ],
)
def test_programs_described_in_a_row_of_many_are_not_vouched_for(names, line, expected):
    body = f"""  "{names}":
    strict: options
    unknown_subcommand: operand
    subcommands: {{"get": {{operands: ["read filesystem:{{}}"]}}}}
    operands: ["read filesystem:{{}}"]
"""
    assert read(body, line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("w", ["execute process:w"]),
        ("w -x", []),
        ("w a", ["read filesystem:a"]),
        ("w -v", []),
    ],
)
def test_a_program_given_none_of_its_work_is_a_session(line, expected):
    body = """  "w": {options: {"-x": {}, "-v": {instead: []}}, operands: [{role: file, effects: ["read filesystem"]}], session: "-x|file"}\n"""
    assert read(body, line) == expected
