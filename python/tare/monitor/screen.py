"""What `tare top` draws, with Textual: activities of a run, and where its ranks are if nothing happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Static

from tare import units
from tare.monitor import heat
from tare.monitor.live import Activity, Live
from tare.streams import visible
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Kind

REFRESH_S = 0.5
SITES_EVERY_S = 1.0
COST_EVERY_S = 5.0
BARS = " ▁▂▃▄▅▆▇█"
COLUMNS = ("What", "Kind", "Time now", "Calls/s", "Bytes/s", "Imbalance", "Most", "Least", "Last 30 s")


def bars(history: Sequence[float]) -> str:
    """A line of blocks, as high as the share of time; an empty one is nothing."""
    return "".join(BARS[min(len(BARS) - 1, max(0, round(share * (len(BARS) - 1))))] for share in history)


def cells(activity: Activity) -> tuple[str, ...]:
    """The row of an activity in the table: text, with times as shares and sizes in readable units."""
    is_counter = activity.value is not None
    return (
        visible(activity.event),
        activity.kind,
        f"{activity.value:.6g}" if is_counter else units.percent(activity.share),
        f"{activity.calls_per_s:,.0f}",
        "" if is_counter else f"{units.size(activity.bytes_per_s)}",
        "" if is_counter else f"+{100 * activity.imbalance:.0f} %",
        "" if is_counter else str(activity.most_rank),
        "" if is_counter else str(activity.least_rank),
        "" if is_counter else bars(activity.history),
    )


def cells_without_rates(kind: Kind, event: str) -> tuple[str, ...]:
    """The cells of a run whose filter gives histograms alone."""
    return (visible(event), kind, *[""] * (len(COLUMNS) - 2))


class Where(ModalScreen[None]):
    """A screen with what `tare where` says of the ranks."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,w,q", "dismiss", "Back")]
    CSS = """Where { align: center middle; }
    Where > VerticalScroll { width: 90%; height: 80%; border: solid $accent; }"""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text, markup=False, id="where")
        yield Footer()


class CallSites(Where):
    """Time by call site, read again and again in a thread: what is shown is one reading old."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,c,q", "dismiss", "Back")]

    def __init__(self, read: Callable[[], str]) -> None:
        super().__init__("")
        self._read = read
        self._reads = False

    def on_mount(self) -> None:
        self.refresh_now()
        self.set_interval(SITES_EVERY_S, self.refresh_now)

    def refresh_now(self) -> None:
        if self._reads or not self.query("#where"):
            return
        self.query_one("#where", Static).update(self._text)
        self._reads = True
        self.run_worker(self._look, thread=True)

    def _look(self) -> None:
        try:
            self._text = self._read()
        finally:
            self._reads = False


class Top(App[None]):
    """Ends by itself when the run has ended, unless it is to stay."""

    CSS = """#about { height: auto; padding: 0 1; background: $panel; }
    #silence { height: auto; padding: 0 1; color: $warning; }
    #activities { height: 1fr; min-height: 5; }
    #heat { height: auto; padding: 0 1; border-top: solid $panel; }"""
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit", "Quit"),
        # As everywhere in a terminal; Textual would only tell of another key.
        Binding("ctrl+c", "quit", show=False, priority=True),
        ("c", "call_sites", "Call sites"),
        ("w", "where", "Where ranks are"),
        ("h", "heat", "How ranks differ"),
        ("p", "pause", "Pause"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        name: str,
        live: Live,
        is_going_on: Callable[[], bool],
        where: Callable[[], str],
        cost: Callable[[], str],
        hang: Callable[[], str] = lambda: "",
        call_sites: Callable[[], str] = lambda: "",
        *,
        stay: bool = False,
        event: str | None = None,
    ) -> None:
        """`is_going_on`: whether the run is; `where`, `cost`, `hang`, `call_sites`: what to say of ranks, of
        monitoring them, of those that hang, of time by call site. The last two may take long, and are called
        from a thread. `event` is what the cursor is on at first."""
        super().__init__()
        self._name = visible(name)
        self._live = live
        self._is_going_on = is_going_on
        self._where = where
        self._cost = cost
        self._call_sites = call_sites
        self._stay = stay
        self._paused = False
        self._ended = False
        self._asked = 0.0
        self._cost_text = ""
        self._hang = hang
        self._hang_text = ""
        self._looks = False  # for ranks that hang, just now
        self._shown: list[tuple[Kind, str]] = []  # row by row
        self._wished = event  # until there is a row of it
        self._chosen: tuple[Kind, str] | None = (
            None  # where the user has moved the cursor; None: the first row
        )
        self._shows_heat = True
        self._placed = 0  # the row where the cursor was put last

    def compose(self) -> ComposeResult:
        yield Static("", id="about", markup=False)
        yield Static("", id="silence", markup=False)
        yield DataTable(id="activities", cursor_type="row", zebra_stripes=True)
        yield Static("", id="heat", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one("#activities", DataTable)
        for name in COLUMNS:
            table.add_column(name, key=name)
        self.refresh_now()
        self.set_interval(REFRESH_S, self.refresh_now)

    def refresh_now(self) -> None:
        if not self.query("#activities"):
            return  # not there yet, or no longer
        going_on = self._is_going_on()  # before what is read: so nothing is missed at the end
        self._live.update()
        self._ended = not going_on
        if self._ended:
            self._hang_text = ""
        elif not self._looks:
            self._looks = True
            self.run_worker(self._look_for_hangs, thread=True)
        if not self._paused:
            self._show()
        if self._ended and not self._stay:
            self.exit()

    def _show(self) -> None:
        self.query_one("#about", Static).update(self._about())
        self.query_one("#silence", Static).update(self._silence())
        table = self.query_one("#activities", DataTable)
        top = table.scroll_y
        self._notice_choice(table)
        table.clear()
        rows = {(each.kind, each.event): cells(each) for each in self._live.activities(self._now_ns())}
        if not rows:
            rows = {each: cells_without_rates(*each) for each in self._live.columns.events()}
        self._shown = list(rows)
        for row in rows.values():
            table.add_row(*row)
        if self._wished is not None:
            self._chosen = next((each for each in rows if each[1] == self._wished), None)
            self._wished = None if self._chosen else self._wished
        # Rows change their places; the cursor stays with its event.
        before, self._placed = self._placed, self._shown.index(self._chosen) if self._chosen in rows else 0
        table.move_cursor(row=self._placed, scroll=False)
        table.scroll_to(y=top, animate=False)
        if self._placed != before:
            table.move_cursor(row=self._placed, animate=False)
        self._show_heat()

    def _notice_choice(self, table: DataTable[str]) -> None:
        if table.cursor_row != self._placed and 0 <= table.cursor_row < len(self._shown):
            self._placed, self._chosen = table.cursor_row, self._shown[table.cursor_row]

    def on_data_table_row_highlighted(self) -> None:
        """The user has moved the cursor, or rows have changed."""
        if self.query("#heat"):
            self._notice_choice(self.query_one("#activities", DataTable))
            self._show_heat()

    def _show_heat(self) -> None:
        lines: list[str] = []
        if self._placed < len(self._shown):
            kind, event = self._shown[self._placed]
            lines = heat.text_lines(kind, event, self._live.columns.of(kind, event))
        widget = self.query_one("#heat", Static)
        widget.update("\n".join(lines))
        widget.display = bool(lines) and self._shows_heat

    def _now_ns(self) -> int | None:
        """The Unix time; None if the run has ended, of which the last rounds are shown."""
        return None if self._ended else time.time_ns()

    def _about(self) -> str:
        now = time.monotonic()
        if now - self._asked > COST_EVERY_S or self._ended:
            self._cost_text, self._asked = self._cost(), now
        state = "ended" if self._ended else "paused" if self._paused else "running"
        last = self._live.last
        if last is None:
            return f"{self._name}: {state}, no round yet"
        given = self._live.taken + self._live.lost
        # Rounds that all ranks have lost are not seen here.
        share = units.percent(self._live.lost / given) if given and self._live.lost else ""
        lost = f"{share} lost at least" if share else "none seen lost"
        missing = f", without {self._live.lost_ranks}" if len(self._live.lost_ranks) else ""
        return (
            f"{self._name}: {state}   "
            f"round {last.round:,} of {units.number_of(self._live.ranks, 'rank')}{missing}   "
            f"delay {units.duration(last.delay_ns)}   {units.number_of(self._live.rounds, 'round')}, {lost}\n"
            f"{self._cost_text}"
        )

    def _look_for_hangs(self) -> None:
        try:
            self._hang_text = self._hang()
        finally:
            self._looks = False

    def _silence(self) -> str:
        if self._hang_text and not self._ended:
            return visible(self._hang_text)
        now_ns = self._now_ns()
        silent_ns = 0 if now_ns is None else self._live.silence_ns(now_ns)
        if not silent_ns:
            return ""
        return f"no round for {silent_ns / NS_PER_S:.0f} s: press w to see where the ranks are"

    def action_where(self) -> None:
        self.push_screen(Where(self._where()))

    def action_call_sites(self) -> None:
        self.push_screen(CallSites(self._call_sites))

    def action_heat(self) -> None:
        self._shows_heat = not self._shows_heat
        self._show_heat()

    def action_pause(self) -> None:
        self._paused = not self._paused
        self._show()
