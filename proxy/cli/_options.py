"""Options several commands share, and how a wrong file or flag is said.

In: click's values. Out: a ``Config``, or one clear sentence and the right exit code.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from classifiers.strict_yaml import StrictYamlError
from proxy.config import DEFAULT_STATE, build
from proxy.config_values import WrongValueError, address, intercepted, parent_proxy, route_spec
from proxy.settings import Config, Launch

BAD_FILE = 3


def fail(message: str, code: int) -> NoReturn:
    """One sentence on stderr, then the exit code."""
    click.echo(f"onlooker: {message}", err=True)
    sys.exit(code)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for programs.")


def state_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--state", metavar="DIR", help=f"Where log, keys and token live (default {DEFAULT_STATE}).")(
        command
    )


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What calls are judged by: policies, objectives."""
    policy, objective = "A policy file to judge by", "An objective file: what was asked for"
    for flag, name, what in (("--objective", "objectives", objective), ("--policy", "policies", policy)):
        help_ = f"{what}; may be given more than once."
        command = click.option(flag, name, multiple=True, metavar="FILE", help=help_)(command)
    return command


def instance_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What makes an instance: file, addresses, routes, policies, objectives."""
    options = (
        click.option("--config", "file", type=click.Path(path_type=Path), help="onlooker.yaml"),
        click.option("--listen", metavar="HOST:PORT", help="Data port (default 127.0.0.1:8790)."),
        click.option("--control", metavar="HOST:PORT", help="Control plane (default 127.0.0.1:8791)."),
        state_option,
        click.option("--route", "routes", multiple=True, metavar="NAME=URL", help="NAME may be / for the root route."),
        judging_options,
        click.option("--workers", type=click.IntRange(1, 256), help="Worker processes of the data plane."),
        click.option("--upstream-ca", metavar="FILE", help="Also trust these CAs of upstreams."),
        click.option("--upstream-proxy", metavar="URL", help="Reach https upstreams through this proxy, or 'direct'."),
        click.option("--no-proxy", multiple=True, metavar="PLACE", help="Reach this name or network without it."),
        click.option("--forward", "forward_listen", metavar="HOST:PORT", help="Forward proxy (HTTPS_PROXY) here too."),
        click.option("--intercept", multiple=True, metavar="HOST", help="Look into TLS to HOST, tunnel the rest."),
        click.option("--transparent", metavar="HOST:PORT", help="Take redirected connections here too (Linux)."),
        click.option("--tproxy", is_flag=True, help="With --transparent: they come by TPROXY, not by REDIRECT."),
        click.option("--allow-non-loopback", "allow_remote", is_flag=True, help="Listen where others can reach it."),
    )
    return functools.reduce(lambda made, option: option(made), reversed(options), command)


def configuration(file: Path | None, flags: dict[str, Any], launch: Launch | None = None) -> Config:
    """The configuration, or exit 2 for a wrong flag and 3 for a wrong file."""
    try:
        flags["routes"] = dict(_route(text) for text in flags.get("routes") or ())
        for name in ("listen", "control"):
            if flags.get(name):
                address(flags[name])
        if flags.get("upstream_proxy"):
            parent_proxy(flags["upstream_proxy"])
        flags["forward"], flags["transparent"] = _forward(flags), _transparent(flags)
        config = build(file, flags, launch)
    except WrongValueError as error:
        fail(str(error), 2)
    except StrictYamlError as error:
        fail(str(error), BAD_FILE)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", BAD_FILE)
    _loopback_only(config)
    return config


def _route(text: str) -> tuple[str, dict[str, Any]]:
    name, equals, url = text.partition("=")
    if not equals:
        raise WrongValueError(f"--route {text}: expected NAME=URL")
    return name, route_spec(name, url)


def _forward(flags: dict[str, Any]) -> dict[str, Any]:
    listen, hosts = flags.pop("forward_listen", None), flags.pop("intercept", ())
    found: dict[str, Any] = {"listen": address(listen)} if listen else {}
    return found | ({"intercept": intercepted(list(hosts))} if hosts else {})


def _transparent(flags: dict[str, Any]) -> dict[str, Any]:
    listen, tproxy = flags.pop("transparent", None), flags.pop("tproxy", False)
    return ({"listen": address(listen)} if listen else {}) | ({"tproxy": True} if tproxy else {})


def _loopback_only(config: Config) -> None:
    for bound in filter(None, (config.listen, config.control, config.forward.listen, config.transparent.listen)):
        host = bound.rpartition(":")[0].strip("[]")
        if host not in {"127.0.0.1", "::1", "localhost"} and not host.startswith("127.") and not config.allow_remote:
            fail(f"{bound} is not a loopback address; --allow-non-loopback says you mean it", 2)
