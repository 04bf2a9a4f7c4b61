"""An option that says itself that its value is a file reads it, whether its program's description says so or not."""

import pytest

from classifiers.shell import classify_shell


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("pydocstyle --config rules/doc.ini shop.py", "rules/doc.ini"),
        ("pydocstyle --config=rules/doc.ini shop.py", "rules/doc.ini"),
        ("pylint --rcfile pylint.toml shop.py", "pylint.toml"),
        ("pio ci --project-conf boards/shop.ini", "boards/shop.ini"),
        ("phpstan analyse -c rules/shop.neon src", "rules/shop.neon"),
        ("az apim api create --name shop --api-definition api.yaml", "api.yaml"),
        ("git add --pathspec-from-file changed.txt", "changed.txt"),
        ("mongodump --configFile=conf/dump.yml", "conf/dump.yml"),
    ],
)
def test_the_file_an_option_names_is_read(command, read):
    assert f"read filesystem:{read}" in {str(e).split(" read_only")[0] for e in classify_shell(command).effects}


@pytest.mark.parametrize(
    "command",
    [
        "docker build --build-context key=value .",
        "az role assignment create --role-definition Reader --name shop",
        "doppler run --config dev -- ls",
        "cargo build --config net.retry=3",
        "mypy --log-file=out/mypy.txt src",
        "helm install shop ./chart --values https://shop.example/values.yaml",
    ],
)
def test_a_name_an_assignment_an_address_and_what_is_written_are_no_such_file(command):
    named = {"dev", "net.retry=3", "key=value", "out/mypy.txt", "https://shop.example/values.yaml"}
    assert not {e.target for e in classify_shell(command).effects if e.action.value == "read"} & named


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("dotnet build --output build/web", {"build/web"}),
        ("checkov -d infra --output json", set()),
        ("say --output-file=hi.aiff hello", {"hi.aiff"}),
        ("bun build shop.ts --compile --outfile dist/shop", {"dist/shop"}),
        ("curl --output-dir /srv/in https://files.example", set()),
    ],
)
def test_the_file_an_output_option_names_is_written_once(command, written):
    told = [e.target for e in classify_shell(command).effects if e.action.value in {"modify", "create"}]
    assert sorted(told) == sorted(written)
