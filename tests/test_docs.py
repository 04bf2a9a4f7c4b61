"""What the pages point at is there: files, headings, sinks with their options."""

import re
from pathlib import Path

import pytest

from classifiers.discover import discover

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", ROOT / "deploy/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]  # fmt: skip


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchor(heading):
    """GitHub's: lower case, punctuation dropped, blanks to dashes."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(page):
    return {anchor(h) for h in re.findall(r"^#+ (.+)$", without_code(page.read_text()), re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    text = without_code(page.read_text())
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, part = target.partition("#")
        found = (page.parent / file) if file else page
        if not found.exists() or (part and found.suffix == ".md" and part not in anchors(found)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page):
    named = re.findall(
        r"`((?:docs|tests|deploy|policies|classifiers|proxy|audit|benchmarks)/[\w./-]+)`", page.read_text()
    )
    assert [n for n in named if not (ROOT / n).exists()] == []


def test_every_page_is_reachable_from_the_readme():
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or not page.is_file():
            continue
        reached.add(page)
        text = page.read_text()
        linked = [page.parent / t.partition("#")[0] for t in re.findall(r"\]\(([^)\s]+\.md[^)\s]*)\)", text)]
        named = [ROOT / n for n in re.findall(r"`([\w./-]+\.md)`", text)] + [
            page.parent / n for n in re.findall(r"`([\w./-]+\.md)`", text)
        ]
        folders = [ROOT / n for n in re.findall(r"`(docs/[\w-]+/)`", text)]
        todo += [p.resolve() for p in (*linked, *named)] + [f for folder in folders for f in folder.glob("*.md")]
    assert [str(p.relative_to(ROOT)) for p in PAGES if p not in reached and p.name != "SECURITY.md"] == []


def test_the_sinks_page_has_each_sink_with_each_option():
    rows = dict(re.findall(r"^\| `(\w+)` \|(.+)$", (ROOT / "docs/sinks.md").read_text(), re.MULTILINE))
    sinks = {s.name: set(s.options) for s in discover("audit.sinks", "SINK")}
    assert set(rows) == set(sinks)
    assert {name: options - set(re.findall(r"`(\w+)`", rows[name])) for name, options in sinks.items()} == {
        name: set() for name in sinks
    }
