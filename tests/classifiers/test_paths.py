"""One canonical string per path, and what lies there."""

import pytest

from classifiers import paths
from classifiers.context import Context
from classifiers.effects import Domain, Verb

AT_SHOP = Context(cwd="/home/kim/shop", home="/home/kim")
NOWHERE = Context()


@pytest.mark.parametrize(
    ("written", "context", "expected"),
    [
        ("build", AT_SHOP, "/home/kim/shop/build"),
        ("../x", AT_SHOP, "/home/kim/x"),
        ("./a/../b/", NOWHERE, "./b"),
        ("~/.aws/credentials", NOWHERE, "~/.aws/credentials"),
        ("~/.aws/credentials", AT_SHOP, "/home/kim/.aws/credentials"),
        ("/srv//app/./x/..", NOWHERE, "/srv/app"),
        ("/", NOWHERE, "/"),
        ("dir/", NOWHERE, "dir"),
        ("~/../other", NOWHERE, "~/../other"),
        ("~/a/./b/", NOWHERE, "~/a/b"),
    ],
)
def test_a_path_has_one_canonical_form(written, context, expected):
    assert paths.canonical(written, context.cwd, context.home) == expected


@pytest.mark.parametrize(
    ("verb", "path", "context", "expected"),
    [
        (
            Verb.READ,
            "~/.ssh/id_ed25519",
            NOWHERE,
            "read secrets:~/.ssh/id_ed25519 path_scope=home sensitivity=private_key",
        ),
        (Verb.READ, "~/.ssh/id_ed25519.pub", NOWHERE, "read filesystem:~/.ssh/id_ed25519.pub path_scope=home"),
        (
            Verb.READ,
            "~/.ssh/deploy_key",
            NOWHERE,
            "read secrets:~/.ssh/deploy_key path_scope=home sensitivity=private_key",
        ),
        (
            Verb.READ,
            "~/.ssh/github_ed25519",
            NOWHERE,
            "read secrets:~/.ssh/github_ed25519 path_scope=home sensitivity=private_key",
        ),
        (Verb.READ, "~/.ssh/deploy_key.pub", NOWHERE, "read filesystem:~/.ssh/deploy_key.pub path_scope=home"),
        (Verb.READ, ".env", AT_SHOP, "read secrets:/home/kim/shop/.env path_scope=workspace sensitivity=env_secret"),
        (
            Verb.MODIFY,
            "/etc/crontab",
            NOWHERE,
            "modify scheduler:/etc/crontab persistence path_scope=system sensitivity=scheduler_file",
        ),
        (
            Verb.MODIFY,
            "~/.zshrc",
            NOWHERE,
            "modify filesystem:~/.zshrc persistence path_scope=home sensitivity=shell_startup",
        ),
        (Verb.MODIFY, "/dev/sdb", NOWHERE, "modify storage:device:/dev/sdb path_scope=device"),
        (
            Verb.DELETE,
            "/var/log/auth.log",
            NOWHERE,
            "delete filesystem:/var/log/auth.log defense_evasion path_scope=system sensitivity=audit_log",
        ),
        (Verb.CREATE, "notes.txt", NOWHERE, "create filesystem:notes.txt path_scope=unknown"),
        (Verb.CREATE, "/tmp/a", NOWHERE, "create filesystem:/tmp/a path_scope=temp"),
    ],
)
def test_a_file_effect_says_where_the_path_lies_and_what_is_kept_there(verb, path, context, expected):
    assert str(paths.file_effect(verb, path, context)) == expected


def test_a_home_folder_is_known_however_it_is_written():
    for home in ("~", "/home/kim", "/root", "/Users/kim"):
        assert paths.facts(f"{home}/.bashrc", NOWHERE).sensitivity == "shell_startup"


def test_streams_are_not_files():
    assert paths.is_stream("/dev/null")
    assert paths.is_stream("/dev/fd/3")
    assert not paths.is_stream("/dev/sda")


def test_a_long_hostile_path_is_matched_in_linear_time():
    assert paths.facts("/" + "a/" * 3000 + "x", NOWHERE).sensitivity == "none"


@pytest.mark.parametrize(
    ("domain", "target", "expected"),
    [
        (Domain.STORAGE, "device:/dev/sdb", "delete storage:device:/dev/sdb path_scope=device"),
        (Domain.STORAGE, "/dev/sdb", "delete storage:device:/dev/sdb path_scope=device"),
        (Domain.STORAGE, "device:disk.img", "delete storage:device:/home/kim/shop/disk.img path_scope=workspace"),
        (Domain.STORAGE, "zfs:tank/home", "delete storage:zfs:tank/home"),
        (Domain.STORAGE, "quota", "delete storage:quota"),
        (Domain.STORAGE, "*", "delete storage:*"),
        (Domain.SECRETS, "vault:kv/app", "delete secrets:vault:kv/app"),
        (Domain.FILESYSTEM, "ab:c", "delete filesystem:/home/kim/shop/ab:c path_scope=workspace"),
    ],
)
def test_a_name_in_a_store_is_not_joined_with_the_folder_one_stands_in(domain, target, expected):
    assert str(paths.file_effect(Verb.DELETE, target, AT_SHOP, domain=domain)) == expected
