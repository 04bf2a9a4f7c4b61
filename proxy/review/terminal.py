"""The review in a terminal: the same questions, worst first, for people on a server (extra ``tui``).

In: an index, and a way to write a mark. Out: a textual application. Texts of records are shown as plain text: no
markup, no control character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Header, Input, Label, Static

from audit.escape import terminal
from proxy.explain.tell import tell
from proxy.places import Places
from proxy.review.asked import ASKS, Asked, asked
from proxy.review.index import Index
from proxy.review.lines import number_of_id, records_of
from proxy.review.search import COUNTED, find

ROWS = 500
FOLLOW_S = 1.0
_COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}
_ASKED = {"": "everything", "destroyed": "asked to destroy", "left": "asked to send out", "stays": "asked to persist",
          "outside": "outside objective", "unread": "not read"}  # fmt: skip
_HINT = "target text, or name=value: rule= session= agent= tool= domain= severity= marked="
_COLUMNS = ("severity", "what it could do", "verdict", "why", "tool", "session", "reported", "when (UTC)")
Mark = Callable[[str, str, str], str]  # (action, state, reason) -> a sentence on what was done


class Reason(ModalScreen[str]):
    """One line: why."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss('')", "Cancel")]

    def __init__(self, state: str) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        yield Label(f"Mark as {self._state} because (Enter writes it to the log, Escape does not):")
        yield Input(placeholder="the reason", max_length=2000)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class Explained(Screen[None]):
    """One action, told from the evidence up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", "Back"),
        Binding("b", "mark('benign')", "Benign"),
        Binding("e", "mark('escalated')", "Escalate"),
        Binding("o", "mark('open')", "Open again"),
    ]

    def __init__(self, identity: str, index: Index) -> None:
        super().__init__()
        self.identity, self._index = identity, index

    def compose(self) -> ComposeResult:
        yield Header()
        with VerticalScroll():
            yield Static(Text("\n".join(terminal(line) for line in explained(self._index, self.identity))), id="told")
        yield Footer()

    def action_mark(self, state: str) -> None:
        app = self.app
        assert isinstance(app, ReviewApp)
        app.ask_mark(self.identity, state)

    def refresh_text(self) -> None:
        text = "\n".join(terminal(line) for line in explained(self._index, self.identity))
        self.query_one("#told", Static).update(Text(text))


class ReviewApp(App[None]):
    """The list. Tab of questions by number keys, ``/`` filters, Enter opens."""

    TITLE = "onlooker review"
    CSS = "Reason { align: center middle } Reason Label, Reason Input { width: 80% } #filter { dock: top }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("/", "filter", "Filter"),
        *(Binding(str(n), f"ask('{ask}')", _ASKED[ask]) for n, ask in enumerate(("", *ASKS))),
        Binding("n", "order", "Newest/worst"),
        Binding("b", "mark('benign')", "Benign"),
        Binding("e", "mark('escalated')", "Escalate"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, index: Index, write: Mark, *, first: Asked | None = None) -> None:
        super().__init__()
        self.index, self._mark = index, write
        self.asked = first or Asked(marked="open")
        self._newest = -1

    def compose(self) -> ComposeResult:
        yield Header()
        yield Input(
            placeholder="target text, or name=value: rule= session= agent= tool= domain= severity= marked=", id="filter"
        )
        yield DataTable(cursor_type="row", zebra_stripes=True, id="list")
        yield Footer()

    def on_mount(self) -> None:
        self.table.add_columns(*_COLUMNS)
        self.table.focus()
        self.follow()
        self.set_interval(FOLLOW_S, self.follow)

    @property
    def table(self) -> DataTable[Text]:
        return self.query_one("#list", DataTable)

    def follow(self) -> None:
        """Take what the log gained; show it when something did."""
        self.index.catch_up()
        if self.index.newest != self._newest:
            self._newest = self.index.newest
            self.show()
            if isinstance(self.screen, Explained):
                self.screen.refresh_text()

    def show(self) -> None:
        table = self.screen_stack[0].query_one("#list", DataTable)
        chosen, line = self._chosen(table), table.cursor_row
        page = find(self.index, self.asked, ROWS)
        table.clear()
        for row in page.rows:
            table.add_row(*cells(row), key=row["id"])
        keys = [row["id"] for row in page.rows]
        table.move_cursor(row=keys.index(chosen) if chosen in keys else min(line, max(0, len(keys) - 1)))
        count = f"more than {COUNTED:,}" if page.total > COUNTED else f"{page.total:,}"
        filters = " ".join(f"{k}={v}" for k, v in self.asked.pairs())
        self.sub_title = terminal(f"{count} actions · {filters}", 120)
        if not page.rows:
            self.notify("No action fits. Press 0 for everything, / to change the filter.", timeout=4)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if event.row_key.value:
            self.push_screen(Explained(event.row_key.value, self.index))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.asked = question(event.value, self.asked)
            self.show()
            self.table.focus()

    def action_filter(self) -> None:
        self.query_one("#filter", Input).focus()

    def action_ask(self, ask: str) -> None:
        rest = {k: v for k, v in self.asked.filters.items() if k != "ask"}
        self.asked = replace(self.asked, filters=rest | ({"ask": ask} if ask else {}))
        self.show()

    def action_order(self) -> None:
        self.asked = replace(self.asked, order="newest" if self.asked.order == "worst" else "worst")
        self.show()

    def action_mark(self, state: str) -> None:
        if chosen := self._chosen(self.table):
            self.ask_mark(chosen, state)

    def ask_mark(self, identity: str, state: str) -> None:
        def done(reason: str | None) -> None:
            if reason:
                self.notify(terminal(self._mark(identity, state, reason)))
                self.follow()

        self.push_screen(Reason(state), done)

    def _chosen(self, table: DataTable[Any]) -> str:
        if not table.row_count:
            return ""
        return str(table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value or "")


def question(text: str, before: Asked) -> Asked:
    """``prod severity=high``: names of filters with their values, the rest is text on targets."""
    words = text.split()
    named = [tuple(w.split("=", 1)) for w in words if "=" in w]
    plain = " ".join(w for w in words if "=" not in w)
    kept = [("ask", before.filters["ask"])] if "ask" in before.filters else []
    return asked([("marked", before.marked), ("order", before.order), *kept, ("q", plain), *((k, v) for k, v in named)])


def cells(row: Any) -> Iterator[Text]:
    yield Text(row["severity"] or "-", style=_COLOURS.get(row["severity"], ""))
    more = f" +{row['more']}" if row["more"] else ""
    note = "" if row["state"] == "read" else f" [{row['state']}]"
    yield Text(terminal(row["effect"], 70) + more + note)
    yield Text(row["verdict"].replace("_", " "))
    for name, limit in (("why", 34), ("tool", 20), ("session", 24)):
        yield Text(terminal(row[name], limit))
    yield Text({"none": "no result"}.get(row["outcome"], row["outcome"]).replace("_", " "))
    yield Text(row["ts"][5:19].replace("T", " "))


def explained(index: Index, identity: str) -> Iterator[str]:
    number = number_of_id(index, identity)
    record = records_of(index, [number]).get(number) if number is not None else None
    if number is None or record is None:
        yield f"no record {identity}: it may have been removed by retention"
        return
    later = records_of(
        index, [r["n"] for r in index.rows("SELECT n FROM records WHERE about = ? ORDER BY n", (number,))]
    )
    yield from tell(record, list(later.values()), Places.of_state(index.audit_dir.parent))
    for said in later.values():
        if said["kind"] == "disposition":
            yield f"marked {said['disposition']['state']}: {said['disposition']['reason']}"
