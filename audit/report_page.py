"""The session report as one HTML file: no script, no request, dark and light, made to be printed.

In: ``Report``. Out: the page's text. Every string of a record goes through ``escape.html``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from audit.escape import html, html_block
from audit.report import Group, Report
from audit.scrub import argument_path
from audit.summary import effect_text, severity, what

Record = dict[str, Any]

_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2128;--soft:#59636e;--line:#d1d9e0;--card:#f6f8fa;--mark:#fff3b0;
--critical:#a40e26;--high:#cf222e;--medium:#9a6700;--low:#0969da;--info:#59636e;--ok:#1a7f37}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9198a1;--line:#3d444d;--card:#151b23;
--mark:#5a4a00;--critical:#ff7b88;--high:#ff8182;--medium:#e3b341;--low:#79c0ff;--info:#9198a1;--ok:#56d364}}
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1.5rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}table{overflow-wrap:normal}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
.soft{color:var(--soft)}.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0}
.tile{border:1px solid var(--line);background:var(--card);border-radius:.5rem;padding:.5rem 1rem;min-width:7rem}
.tile b{display:block;font-size:1.35rem}.critical{color:var(--critical)}.high{color:var(--high)}
.medium{color:var(--medium)}.low{color:var(--low)}.info{color:var(--info)}.ok{color:var(--ok)}
details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;background:var(--card)}
summary{cursor:pointer;padding:.5rem .75rem}details>div{padding:0 .75rem .5rem}
pre,code{font:13px/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--bg);
border:1px solid var(--line);border-radius:.35rem;padding:.5rem;margin:.35rem 0}
mark{background:var(--mark);color:inherit}
table{border-collapse:collapse;width:100%;table-layout:auto}th,td{text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);padding:.3rem .5rem}td.w{overflow-wrap:anywhere;min-width:6rem}
td:not(.w) code{white-space:nowrap}th{color:var(--soft);font-weight:600}
td.n{text-align:right;font-variant-numeric:tabular-nums}.nowrap{white-space:nowrap}
@media print{body{max-width:none;padding:0;font-size:11px}pre,tr,.tile{break-inside:avoid}
summary{break-after:avoid}details:not([open])>:not(summary){display:block}h2{break-after:avoid}}
"""


def page(report: Report) -> str:
    worst = report.groups[0].severity if report.groups else "ok"
    parts = [
        f"<h1>Session <code>{html(report.session)}</code></h1>",
        f"<p class=soft>{html(report.agent)} · {html(report.first)} to {html(report.last)}</p>",
        _tiles(report, worst),
        _objective(report.objective),
        "<h2>Flagged, worst first</h2>",
        _groups(report.groups) or "<p class=ok>Nothing was flagged. See what was not seen, below.</p>",
        "".join(_answer(q, rows) for q, rows in report.answers.items()),
        _coverage(report),
        _verification(report),
        _spend(report),
        _timeline(report),
        "<p class=soft>A record says what was requested and what was reported back. It does not say what happened.</p>",
    ]
    title = f"onlooker: session {html(report.session)}"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _tiles(report: Report, worst: str) -> str:
    counts = report.counts
    gaps = sum(1 for _, _, is_gap in report.coverage if is_gap)
    tiles = [
        ("calls", counts["action"], ""),
        ("flagged", counts["flagged"], worst if counts["flagged"] else "ok"),
        ("not all read", counts["not all read"], "medium" if counts["not all read"] else ""),
        ("coverage gaps", gaps, "medium" if gaps else "ok"),
        ("log", "proven" if report.proven else "not proven", "ok" if report.proven else "medium"),
    ]
    cells = (f'<div class=tile><b class="{c}">{html(v)}</b>{html(n)}</div>' for n, v, c in tiles)
    return f"<div class=tiles>{''.join(cells)}</div>"


def _objective(objective: Record | None) -> str:
    if objective is None:
        return "<p class=medium>No objective was declared for this session.</p>"
    said = objective.get("statement") or ""
    trust = f"trust {objective.get('trust')}, bound by {objective.get('bound_by')}"
    return f"<p>Objective <code>{html(objective.get('id'))}</code> ({html(trust)}). {html(said)}</p>"


def _groups(groups: Iterable[Group]) -> str:
    """A call is shown whole in its worst group, and by name in the others."""
    shown: set[str] = set()
    out = []
    for group in groups:
        head = f'<b class="{html(group.severity)}">{html(group.severity)}</b> {html(group.why)}'
        count = f"<span class=soft>{len(group.actions)} call(s) · {html(group.at)}</span>"
        message = f"<p>{html(group.message)}</p>" if group.message else ""
        calls = "".join(_named(r) if r["id"] in shown else _call(r) for r in group.actions)
        shown |= {r["id"] for r in group.actions}
        out.append(f"<details open><summary>{head} {count}</summary><div>{message}{calls}</div></details>")
    return "".join(out)


def _named(record: Record) -> str:
    return f"<p class=soft>{html(what(record))} · <code>{html(record['id'])}</code>, shown above</p>"


def _call(record: Record) -> str:
    call, classification = record["call"], record["classification"]
    effects = "".join(
        f"<li><code>{html(effect_text(e))}</code> {html(e['reversibility'])}</li>" for e in classification["effects"]
    )
    opaque = "".join(f"<li class=medium>not read: {html(o['reason'])}</li>" for o in classification["opaque"])
    head = f"<p class=soft>{html(record['ts'])} · {html(call['name'])} · <code>{html(record['id'])}</code></p>"
    return f"{head}{_arguments(record)}<ul>{effects}{opaque}</ul>"


def _arguments(record: Record) -> str:
    """The argument texts, the evidence marked."""
    call = record["call"]
    if call["arguments"] is None:
        kept = call.get("arguments_text")
        return (
            f"<pre>{html_block(kept)}</pre>"
            if kept
            else f"<p class=soft>Arguments not kept ({html(record['privacy']['mode'])}).</p>"
        )
    spans: dict[tuple[str | int, ...], list[tuple[int, int]]] = {}
    for e in record["classification"]["effects"]:
        if e["evidence"] is not None:
            place = argument_path(e["evidence"]["path"])[2:]
            spans.setdefault(place, []).append((e["evidence"]["start"], e["evidence"]["end"]))
    arguments = call["arguments"] if isinstance(call["arguments"], dict) else {"": call["arguments"]}
    return "".join(_argument(key, value, spans.get((key,), [])) for key, value in arguments.items())


def _argument(key: str, value: Any, spans: Iterable[tuple[int, int]]) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    out, at = [], 0
    for start, end in sorted(spans):
        if start >= at and end <= len(text):
            out += [html_block(text[at:start]), f"<mark>{html_block(text[start:end])}</mark>"]
            at = end
    body = "".join(out) + html_block(text[at:])
    return f"<pre><span class=soft>{html(key)}: </span>{body}</pre>"


def _answer(question: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return f"<h2>{html(question)}</h2><p class=soft>Nothing was seen.</p>"
    body = [
        (f"<code>{html(effect)}</code>", html(tool), f"<code>{html(identity)}</code>")
        for effect, tool, identity in rows
    ]
    return f"<h2>{html(question)}</h2>{_table(('effect', 'tool', 'record'), body)}"


def _coverage(report: Report) -> str:
    rows = [
        (html(n), f'<span class="{"medium" if gap else "ok"}">{html(said)}</span>') for n, said, gap in report.coverage
    ]
    return f"<h2>What was not seen</h2>{_table(('', ''), rows)}"


def _verification(report: Report) -> str:
    said = "".join(f"<li>{html(v)}</li>" for v in report.verification) or "<li>not checked</li>"
    colour = "ok" if report.proven else "medium"
    return f'<h2>Does the log hold</h2><ul class="{colour}">{said}</ul>'


def _spend(report: Report) -> str:
    if not report.spend:
        return ""
    rows = [tuple(map(html, row)) for row in report.spend]
    return f"<h2>Reported tokens by turn</h2>{_table(('turn', 'input', 'output', 'flagged calls'), rows)}"


def _timeline(report: Report) -> str:
    rows = []
    for r in report.timeline:
        worst = severity(r) or ""
        outcome = report.outcomes.get(r["id"], "no result reported") if r["kind"] == "action" else ""
        cells = (
            html(r["ts"][11:23]),
            html(r["kind"]),
            f'<span class="{html(worst)}">{html(worst)}</span>',
            html(what(r)),
            html(outcome),
        )
        rows.append(cells)
    return f"<h2>Everything, in order</h2>{_table(('time', 'kind', 'severity', 'what', 'reported'), rows)}"


_FREE = frozenset({"effect", "tool", "what"})  # one word of any length is broken anywhere


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{h}</th>" for h in head) if any(head) else ""
    cell = ["<td class=w>" if h in _FREE else "<td>" for h in head]
    body = "".join("<tr>" + "".join(f"{c}{v}</td>" for c, v in zip(cell, row, strict=True)) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{top}</tr>' if top else ''}{body}</table>"
