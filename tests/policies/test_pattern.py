"""Target patterns against what a target stands for: touched (rules), covered (scopes), or not to be said."""

import pytest

from classifiers.effects import Effect
from policies.pattern import Pattern
from policies.target import Target


def target(line: str, home: str | None = "/home/dev") -> Target:
    return Target(Effect.parse(line), home)


def pattern(text: str) -> Pattern:
    op, colon, rest = text.partition(" ")
    return Pattern(op[:-1], rest) if colon and op.endswith(":") else Pattern("glob", text)


# effect, pattern, touches, covers
TABLE = [
    ("delete filesystem:/srv/prod/app", "/srv/prod/**", True, True),
    ("delete filesystem:/srv/prod", "/srv/prod/**", True, True),
    ("delete filesystem:/srv/production", "/srv/prod/**", False, False),
    ("delete filesystem:/srv", "/srv/prod/**", False, False),
    ("delete filesystem:/srv recursive", "/srv/prod/**", True, False),
    ("delete filesystem:/srv recursive filtered", "/srv/prod/**", None, None),
    ("delete filesystem:/srv/prod/app recursive", "/srv/prod/**", True, True),
    ("delete filesystem:/srv/prod/app recursive filtered", "/srv/prod/**", True, True),
    ("delete filesystem:/srv/prod/app recursive", "/srv/prod/app", True, False),
    ("delete filesystem:/srv recursive", "**/.env", None, None),
    ("delete filesystem:/srv/x/.git recursive", "**/.git/hooks/**", True, False),
    ("delete filesystem:/srv/x/.git/hooks recursive", "**/.git/hooks/**", True, True),
    ("delete filesystem:/srv/x recursive", "/srv/**/data/*.db", None, None),
    ("delete filesystem:/srv/x recursive", "/srv/x/*.db", True, False),
    ("delete filesystem:/opt recursive", "/srv/prod/**", False, False),
    ("delete filesystem:/ root", "/srv/prod/**", True, False),
    ("delete filesystem:/ root", "~/.ssh/**", True, False),
    ("delete filesystem:/srv/*", "/srv/**", True, True),
    ("delete filesystem:/srv/* recursive", "/srv/prod/**", True, False),
    ("delete filesystem:/srv/*.log", "/srv/prod/**", False, False),
    ("delete filesystem:/srv/p*", "/srv/prod/**", None, None),
    ("delete filesystem:?", "/srv/**", None, None),
    ("delete filesystem:?", "**", True, True),
    ("delete filesystem:build", "/srv/**", None, None),
    ("delete filesystem:build", "/etc/passwd", False, False),
    ("delete filesystem:etc/passwd", "/etc/passwd", None, None),
    ("delete filesystem:../passwd", "/etc/passwd", None, None),
    ("read filesystem:config/.env", "**/.env", True, True),
    ("read filesystem:config/app.py", "**/.env", False, False),
    ("modify filesystem:pre-commit", "**/.git/hooks/**", None, None),
    ("read secrets:~/.aws/credentials", "~/.aws/credentials", True, True),
    ("read secrets:/home/dev/.aws/credentials", "~/.aws/credentials", True, True),
    ("read secrets:~/.aws/credentials", "/home/dev/.aws/credentials", True, True),
    ("read secrets:/home/eve/.aws/credentials", "~/.aws/credentials", True, False),
    ("read secrets:/root/.ssh/id_rsa", "~/.ssh/id_*", True, False),
    ("read filesystem:/srv/x", "~/.ssh/id_*", False, False),
    ("delete filesystem:/home/dev/shop/", "/home/dev/shop", True, True),
    ("read filesystem:/home/dev/a", "under: /home/dev", True, True),
    ("read filesystem:/home/dev/a.py", "suffix: .py", True, True),
    ("read filesystem:/home/dev/a.py", "contains: dev", True, True),
    ("read filesystem:/home/dev/a.py", "prefix: /srv", False, False),
    ("send network:api.acme.example:443", "*.acme.example", True, True),
    ("send network:API.acme.example", "*.acme.example", True, True),
    ("send network:https://api.acme.example/v1", "*.acme.example", True, True),
    ("send network:evil.example", "*.acme.example", False, False),
    ("send network:x.example:8443", "x.example:443", False, False),
    ("send network:x.example:443", "x.example:443", True, True),
    ("send network:10.1.2.3:80", "cidr: 10.0.0.0/8", True, True),
    ("send network:[::ffff:10.1.2.3]:80", "cidr: 10.0.0.0/8", True, True),
    ("send network:11.1.2.3", "cidr: 10.0.0.0/8", False, False),
    ("send network:x.example", "cidr: 10.0.0.0/8", False, False),
    ("send network:localhost:8080", "localhost", True, True),
    ("create packages:pypi:django==5.2", "pypi:*", True, True),
    ("create packages:pypi:django==5.2", "pypi:django", True, True),
    ("create packages:pypi:django==5.2", "pypi:django==5.2", True, True),
    ("create packages:pypi:djangorestframework", "pypi:django", False, False),
    ("create packages:npm:@babel/core@7", "npm:*", True, True),
    ("create packages:npm:@babel/core@7", "npm:@babel/*", True, True),
    ("create packages:npm:left", "pypi:*", False, False),
    ("send vcs:git:github.com/acme/shop#fix/round", "git:github.com/acme/shop#*", True, True),
    ("send vcs:git:github.com/acme/shop#fix/round", "git:github.com/acme/shop#main", False, False),
    ("send vcs:git:github.com/acme/shop#fix/round", "git:github.com/acme/shop", True, True),
    ("send vcs:git:github.com/acme/shop", "git:github.com/acme/shop#main", None, None),
    ("send vcs:git:github.com/acme/other#main", "git:github.com/acme/shop#*", False, False),
    ("send vcs:git:origin#main", "git:github.com/acme/shop#*", None, None),
    ("modify vcs:/home/dev/shop", "git:github.com/acme/shop#*", None, None),
    ("delete cloud:aws:123:eu-1:s3:prod/x", "aws:*:*:s3:**", True, True),
    ("delete cloud:aws:*:*:s3:prod", "aws:123:*:s3:*", None, None),
    ("delete cloud:aws:*:*:rds:db/main", "aws:123:*:s3:*", False, False),
    ("delete cloud:k8s:ctx:prod:deployment/web", "k8s:*:prod:*", True, True),
    ("delete cloud:k8s:ctx:dev:deployment/web", "k8s:*:prod:*", False, False),
    ("delete database:db:postgres:main/shop/orders", "db:postgres:main/shop/*", True, True),
    ("control services:service:nginx", "service:*", True, True),
    ("execute code:project", "project", True, True),
    ("execute code:project", "/srv/**", False, False),
]


@pytest.mark.parametrize(("effect", "text", "touches", "covers"), TABLE)
def test_a_pattern_against_a_target(effect, text, touches, covers):
    assert pattern(text).touches(target(effect)) is touches, "touches"
    assert pattern(text).covers(target(effect)) is covers, "covers"


def test_what_is_covered_is_touched():
    for effect, text, _, _ in TABLE:
        one, p = target(effect), pattern(text)
        assert not (p.covers(one) is True and p.touches(one) is not True), (effect, text)


def test_another_home_is_unknown_to_a_scope_when_ours_is_not_known():
    one = target("read filesystem:/home/eve/shop/a.py", None)
    assert pattern("~/shop/**").covers(one) is None
    assert pattern("~/shop/**").touches(one) is True
    assert pattern("/home/dev/shop/**").covers(target("read filesystem:~/shop/a.py", None)) is None
