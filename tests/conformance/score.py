"""Score assembled cases against recorded expectations: ``python tests/conformance/score.py [api…]`` prints a table.

A case is right when its calls agree in id, name, arguments, executed_by and completeness, in order, and its results
in id and in outcome where the recording marks one.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from proxy.assembly.case import assemble_case

HERE = Path(__file__).resolve()


def cases_root() -> Path | None:
    """The shared cases: ``shared/wire-cases`` beside one of the folders above this file."""
    return next((p / "shared" / "wire-cases" for p in HERE.parents if (p / "shared" / "wire-cases").is_dir()), None)


def differences(got: dict[str, Any], meta: dict[str, Any]) -> list[str]:
    """What disagrees, empty when the case is right."""
    expected = [_call(c) for c in meta.get("expected_tool_calls") or []]
    found = [{k: c[k] for k in ("id", "name", "arguments", "executed_by", "complete")} for c in got["calls"]]
    problems = [] if _same(found, expected) else [f"calls {found} expected {expected}"]
    return problems + _result_differences(got["results"], meta)


def _call(said: dict[str, Any]) -> dict[str, Any]:
    kept = {k: said.get(k) for k in ("id", "name", "arguments", "executed_by")}
    return {**kept, "complete": said.get("complete") is not False}


def _same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    return sorted(map(_key, found)) == sorted(map(_key, expected))


def _key(call: dict[str, Any]) -> str:
    return json.dumps(_without_nulls(call), sort_keys=True)


def _without_nulls(value: Any) -> Any:
    """SDK models put ``null`` where the wire had no key (disputes.yaml, ``nulls``)."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value


def _result_differences(found: list[dict[str, Any]], meta: dict[str, Any]) -> list[str]:
    problems = []
    for source, names in (
        ("request", ("request_tool_results",)),
        ("stream", ("expected_results", "in_stream_tool_results")),
    ):
        if not any(n in meta for n in names):
            continue
        expected = [r for n in names for r in meta.get(n) or []]
        where = {source} if names[0] != "expected_results" or "expected_results" not in meta else {"stream", "request"}
        ids = sorted(str(r["id"]) for r in found if r["source"] in where)
        wanted = sorted(str(r.get("id")) for r in expected)
        problems += [f"{source} results {ids} expected {wanted}"] if ids != wanted else []
        for result in expected:
            said = {r["outcome"] for r in found if r["id"] == result.get("id")}
            marks = [table.get(result.get(k)) for k, table in _MARKS.items()]
            problems += [f"result {result.get('id')}: {said} expected {m}" for m in marks if m and m not in said]
    return problems


_MARKS: dict[str, dict[Any, str]] = {
    "is_error": {True: "error", False: "ok"},
    "status": {"error": "error", "success": "ok"},
}


def score(root: Path, apis: list[str], *, detect: bool) -> dict[str, list[tuple[str, list[str]]]]:
    """api -> [(case, differences)]."""
    table: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for path in sorted(root.glob("*/*/meta.json")):
        if apis and path.parent.parent.name not in apis:
            continue
        meta = json.loads(path.read_text("utf-8"))
        got = assemble_case(path.parent, detect=detect)
        problems = differences(got, meta | ({"request_tool_results": []} if _omitted(path.parent) else {}))
        named = base(meta.get("wire_api") or meta["api"])
        if got["api"] != named:
            problems.append(f"api {got['api']} expected {named}")
        table[path.parent.parent.name].append((path.parent.name, problems))
    return table


def _omitted(folder: Path) -> bool:
    """The recording left a large request body out: its results cannot be expected."""
    request = folder / "request.json"
    return request.is_file() and str(json.loads(request.read_text("utf-8")).get("body")).startswith("OMITTED")


def base(api: str) -> str:
    return {"groq-chat": "openai-chat", "mistral-chat": "openai-chat"}.get(api, api)


def main() -> None:
    root = cases_root()
    if root is None:
        print("no shared/wire-cases above this file: nothing to score")
        return
    verbose = "-v" in sys.argv
    table = score(root, [a for a in sys.argv[1:] if not a.startswith("-")], detect="--detect" in sys.argv)
    right = total = 0
    for api, rows in table.items():
        good = sum(not p for _, p in rows)
        right, total = right + good, total + len(rows)
        print(f"{api:24} {good:4}/{len(rows):<4} {100 * good / len(rows):6.1f} %")
        for name, problems in rows if verbose else ():
            for problem in problems:
                print(f"    {name}: {problem[:600]}")
    print(f"{'all':24} {right:4}/{total:<4} {100 * right / max(total, 1):6.1f} %")


if __name__ == "__main__":
    main()
