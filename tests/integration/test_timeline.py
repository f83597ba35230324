"""The timeline of the page answers questions, by mouse and by keyboard alone, from a file and a server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import planted
import pytest
import tare as package
from browser import Opened, viewing
from environments import ROOT, all_environments, compile_c, openmpi4
from measured import PROGRAMS as PROGRAMS_OF_TESTS
from measured import measure
from tare import units
from tare.page import content
from verbs import ask

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
CANVAS = "#timeline canvas.lanes"
DRAWN = f"document.querySelector('{CANVAS}').dataset.ready"
PANEL = "#timeline .chosen-part"
MPICH = next(env for env in all_environments() if env.name == "pypi-mpich")
PROGRAMS = {each.name: each for each in planted.programs()}


@pytest.fixture(scope="module")
def file(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    to = tmp_path_factory.mktemp("timeline") / "page.html"
    subprocess.run([tare, "report", RUN, "-o", to], capture_output=True, timeout=120, check=True)
    return to.as_uri()


@pytest.fixture(params=["file", "server"])
def page(browser: Any, file: str, tare: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The page in both ways that it gets its data."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    if request.param == "file":
        yield from shown(context.new_page(), file)
    else:
        with viewing(tare, RUN) as address:
            yield from shown(context.new_page(), address)
            context.close()
    context.close()


def shown(blank: Any, url: str) -> Iterator[Opened]:
    opened = Opened(blank, url)
    # A server finds waits and messages in the background.
    opened.page.evaluate("tare.timeline.data.whenFound?.()")
    opened.page.locator(CANVAS).scroll_into_view_if_needed()
    opened.wait(DRAWN)
    yield opened
    assert opened.complaints == []


def events(tare: Path, run: Path = RUN) -> list[dict[str, Any]]:
    """The calls of MPI, with their begin in seconds since the start of the run."""
    done = ask(tare, "events", run, "--json", check=True)
    rows = [row for row in json.loads(done.stdout)["rows"] if row.get("function", "").startswith("MPI_")]
    start = json.loads((run / "meta.json").read_text())["start_ns"]
    return [{**row, "at": (row["start_ns"] - start) / 1e9} for row in rows]


def panel(page: Opened, title: str) -> str:
    """What the panel says, as soon as its heading holds the title."""
    heading = f"document.querySelector('{PANEL} h3')"
    page.wait(f"!!{heading} && {heading}.textContent.includes({json.dumps(title)})")
    assert page.page.locator(PANEL).is_visible()
    return page.texts(PANEL)[0]


def search(page: Opened, text: str) -> str:
    """What is said of a search."""
    page.page.fill("#timeline input[type=search]", text)
    page.page.press("#timeline input[type=search]", "Enter")
    said = "#timeline [role=search] [role=status]"
    page.wait(f"!['', '…'].includes(document.querySelector('{said}').textContent)")
    return page.texts(said)[0]


def test_a_search_finds_calls_and_goes_to_the_longest(page: Opened, tare: Path) -> None:
    calls = events(tare)
    waitalls = [call for call in calls if call["function"] == "MPI_Waitall"]
    assert search(page, "waitall") == f"1 of {len(waitalls):,} calls, longest first (500 listed)"
    longest = max(waitalls, key=lambda call: call["duration_ns"])
    said = panel(page, f"MPI_Waitall at stencil.c:{longest['line']}")
    assert f"rank {longest['rank']}" in said and units.duration(longest["duration_ns"]) in said
    assert f"{longest['at']:.9f} s" in said
    # By line, rank, peer and duration.
    line = longest["line"]
    over = sorted(call["duration_ns"] for call in waitalls)[len(waitalls) // 2]
    for text, expected in {
        f"stencil.c:{line}": [call for call in calls if call["line"] == line],
        "rank 1 waitall": [call for call in waitalls if call["rank"] == 1],
        f"waitall >{over / 1000}us": [call for call in waitalls if call["duration_ns"] >= over],
        "peer 1": [call for call in calls if call.get("peer_world", call.get("peer")) == 1],
    }.items():
        found = search(page, text)
        assert found.split()[2] == f"{len(expected):,}", text
    assert search(page, "no_such_function") == "Nothing fits."
    assert search(page, "rank 99 waitall") == "There is no rank 99 in the trace."


def test_threads_and_worlds(browser: Any, tare: Path, tmp_path: Path) -> None:
    """A rank is all of its threads; where several worlds have it, one is named."""
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS_OF_TESTS / "threads.c"], tmp_path / "threads", "-pthread")
    launch = f"{mpi.mpiexec[0]} {' '.join(mpi.mpiexec[1:])} -n 2 {program}"
    command: list[str | Path] = [tare, "run", "-q", "--trace", "-o", tmp_path / "run"]
    command += ["--", "sh", "-c", f"{launch} && {launch}"]
    subprocess.run(command, env=mpi.environ(), capture_output=True, timeout=120, check=True)
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", tmp_path / "run", "-o", to], capture_output=True, timeout=120, check=True)
    run = package.open(tmp_path / "run")
    calls = [
        row
        for row in run.rows(run.event_table())
        if (row.function or "").startswith("MPI_") and (row.world, row.rank) == (1, 1)
    ]
    assert len({row.thread for row in calls}) > 1
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    for page in shown(context.new_page(), to.as_uri()):
        assert search(page, "rank 1:1 mpi").split()[2] == f"{len(calls):,}"
        assert search(page, "rank 1") == "There are several: rank 0:1, rank 1:1."
        assert search(page, "rank 2:1") == "There is no rank 2:1 in the trace."
        for section in ("matrix", "waitstates"):
            assert "alone" in page.texts(f"#{section} .lead")[0]
    context.close()


def test_a_search_finds_waits(page: Opened) -> None:
    waits = package.open(RUN).wait_report.waits
    assert search(page, "waits").startswith(f"1 of {sum(each.waits for each in waits):,} waits")
    worst = max(waits, key=lambda each: each.longest_ns)
    said = panel(page, worst.function)
    assert f"Waits{units.duration(worst.longest_ns)} for" in said and f"({worst.kind})" in said
    assert len(page.texts("#timeline .found li")) == 10
    # The cause is one press away.
    page.page.locator(f"{PANEL} dd button").first.click()
    page.wait(f"document.querySelector('{PANEL} h3').textContent.includes('rank {1 - worst.rank}')")


def test_a_time_and_a_rank_are_gone_to(page: Opened, tare: Path) -> None:
    calls = [call for call in events(tare) if call["rank"] == 1]
    call = calls[len(calls) // 2]
    page.page.fill("#timeline [aria-label^='Time since']", f"{call['at'] + 1e-9:.9f}")
    page.page.fill("#timeline [aria-label='Rank']", "1")
    page.page.press("#timeline [aria-label='Rank']", "Enter")
    said = panel(page, call["function"])
    assert "rank 1" in said and f"from {call['at']:.9f} s" in said
    page.wait(DRAWN)
    view = page.page.evaluate("tare.timeline.view")
    start = page.page.evaluate("tare.timeline.about.start_ns")
    assert view["from"] <= call["at"] * 1e9 - start <= view["to"]
    assert view["to"] - view["from"] < 100 * max(call["duration_ns"], 50)
    for time, rank, wrong in (
        ("99", "1", "No such time"),
        ("", "7", "There is no rank 7"),
        ("x", "", "No such time"),
    ):
        page.page.fill("#timeline [aria-label^='Time since']", time)
        page.page.fill("#timeline [aria-label='Rank']", rank)
        page.page.press("#timeline [aria-label='Rank']", "Enter")
        assert wrong in page.texts("#timeline .jump [role=status]")[0]


def test_a_gap_is_between_two_calls(page: Opened, tare: Path) -> None:
    calls = sorted((call for call in events(tare) if call["rank"] == 0), key=lambda call: call["start_ns"])
    pairs = list(pairwise(calls))
    before, after = max(
        pairs, key=lambda two: two[1]["start_ns"] - two[0]["start_ns"] - two[0]["duration_ns"]
    )
    gap_ns = after["start_ns"] - before["start_ns"] - before["duration_ns"]
    middle = before["at"] + (before["duration_ns"] + gap_ns / 2) / 1e9
    page.page.evaluate(
        "time => tare.timeline.panel.choose(0, time - tare.timeline.about.start_ns, true)", middle * 1e9
    )
    said = panel(page, "Outside of calls, rank 0")
    assert f"Takes{units.duration(gap_ns)}, from" in said
    assert f"Behind{before['function']}" in said and f"Before{after['function']}" in said
    # It stays, whatever the view, and a link shows it again.
    page.page.locator(CANVAS).focus()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("+")
    page.page.keyboard.press("ArrowLeft")
    page.wait(DRAWN)
    assert "at=0-" not in page.page.url
    page.page.evaluate(
        "time => tare.timeline.panel.choose(0, time - tare.timeline.about.start_ns)", middle * 1e9
    )
    panel(page, "Outside of calls")
    page.page.keyboard.press("Home")
    page.wait(DRAWN)
    assert page.page.locator(PANEL).is_visible() and "at=0-" in page.page.url
    page.page.reload()
    page.wait("document.documentElement.dataset.ready")
    assert f"Takes{units.duration(gap_ns)}, from" in panel(page, "Outside of calls, rank 0")


def test_a_message_has_two_ends(page: Opened) -> None:
    import pyarrow

    table = pyarrow.table(package.open(str(RUN)).messages).to_pylist()
    both = [row for row in table if row["send_enter_ns"] and row["receive_completion_leave_ns"]]
    longest = max(both, key=lambda row: row["receive_completion_leave_ns"] - row["send_enter_ns"])
    took = longest["receive_completion_leave_ns"] - longest["send_enter_ns"]
    # By the mouse: in the middle of the line.
    sent = longest["send_enter_ns"] - json.loads((RUN / "meta.json").read_text())["start_ns"]
    page.page.evaluate(
        "([from, took]) => { const at = from - tare.timeline.about.start_ns;"
        " tare.timeline.go({ ...tare.timeline.view, from: at - took, to: at + 2 * took }); }",
        [sent, took],
    )
    page.wait(DRAWN)
    box = page.page.locator(CANVAS).bounding_box()
    page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    said = panel(page, f"Message from rank {longest['source']} to rank {longest['destination']}")
    assert f"Takes{units.duration(took)}" in said and f"Tag{longest['tag']}" in said
    sites = package.open(RUN).sites
    completed = f"at stencil.c:{sites[longest['receive_completion_site']].line} in"
    assert (
        f"Sent{longest['send_function']} at stencil.c:{longest['send_line']} in" in said and completed in said
    )
    # Each end leads to its call, and the call to its messages.
    page.page.locator(f"{PANEL} dd button").nth(1).click()
    panel(page, completed)
    page.page.locator(f"{PANEL} dd button", has_text=f"from rank {longest['source']}").first.click()
    panel(page, "Message from")


def test_all_by_keyboard(page: Opened, tare: Path) -> None:
    """No question needs the mouse, from Tab to the last answer."""
    press = page.page.keyboard.press
    page.page.focus("#timeline .tools button")
    for _ in range(30):
        press("Tab")
        if page.page.evaluate(f"document.activeElement === document.querySelector('{CANVAS}')"):
            break
    else:
        pytest.fail("Tab does not reach the timeline")
    press("Enter")  # chooses what is in the middle
    page.wait("tare.timeline.panel.chosen !== null")
    # Step through the calls of rank 0, forth and back.
    calls = sorted((call for call in events(tare) if call["rank"] == 0), key=lambda call: call["start_ns"])
    call = calls[len(calls) // 2]
    press("g")
    page.page.keyboard.type(f"{call['at'] + 1e-9:.9f}")
    press("Tab")
    page.page.keyboard.type("0")
    press("Enter")
    panel(page, call["function"])
    press("Escape")  # back to the timeline
    for key, step in ((".", 1), (".", 2), (".", 3), (",", 2), (",", 1)):
        press(key)
        expected = calls[len(calls) // 2 + step]
        at = f"from {expected['at']:.9f} s"
        page.wait(f"document.querySelector('{PANEL}').textContent.includes({json.dumps(at)})")
    press("j")
    page.wait("tare.timeline.panel.chosen.row === 1")
    press("k")
    page.wait("tare.timeline.panel.chosen.row === 0")
    press("Enter")
    page.wait(DRAWN)
    view, chosen = page.page.evaluate("[tare.timeline.view, tare.timeline.panel.chosen]")
    assert view["to"] - view["from"] == pytest.approx(max(4 * (chosen["to"] - chosen["from"]), 50), rel=0.3)
    press("/")
    page.page.keyboard.type("allreduce")
    press("Enter")
    panel(page, "MPI_Allreduce")
    press("Escape")
    count = "#timeline [role=search] [role=status]"
    for key, number in (("n", 2), ("n", 3), ("N", 2)):
        press(key)
        page.wait(f"document.querySelector('{count}').textContent.startsWith('{number} of ')")
    press("w")
    page.wait(f"document.querySelector('{count}').textContent.includes(' waits')")
    press("c")
    page.wait("tare.timeline.shown.path !== null && tare.timeline.shown.path.count > 0")
    assert "path=on" in page.page.url
    press("m")
    page.wait("tare.timeline.shown.lines === null")
    press("?")
    assert page.page.evaluate("document.querySelector('dialog.keys').open")
    said = page.texts("dialog.keys")[0]
    assert "Critical path on or off" in said and "Go to a time and a rank" in said
    press("Escape")
    page.wait("!document.querySelector('dialog.keys').open")
    assert page.page.locator(PANEL).is_visible(), "the help took the key, not the panel"
    page.page.locator(CANVAS).focus()
    press("Escape")
    assert page.page.locator(PANEL).is_hidden()
    press("Escape")
    page.wait("tare.timeline.view.to - tare.timeline.view.from === tare.timeline.about.length_ns")


def test_the_critical_path_is_that_of_the_report(page: Opened) -> None:
    """Its time on each rank, from MPI_Init on, is what `tare explain` has."""
    window = "({ first: 0, rows: 2, from: 0, to: tare.timeline.about.length_ns })"
    path = page.page.evaluate(
        f"tare.timeline.data.path({window}, 20000)"
        ".then(({ row, duration }) => ({ row: [...row], length: [...duration] }))"
    )
    shown: dict[int, float] = {}
    for row, length in zip(path["row"], path["length"], strict=True):
        shown[row] = shown.get(row, 0) + length
    sums: dict[int, int] = {}
    for each in package.open(RUN).wait_report.critical_path:
        sums[each.rank] = sums.get(each.rank, 0) + each.time_ns
    assert shown == pytest.approx(sums, abs=len(path["row"]))
    before = page.page.evaluate(f"document.querySelector('{CANVAS}').toDataURL()")
    page.page.get_by_role("button", name="Show the chain").click()
    page.wait("tare.timeline.shown.path !== null")
    assert page.page.evaluate(f"document.querySelector('{CANVAS}').toDataURL()") != before


COLOURS = """name => {
  const canvas = document.querySelector("#timeline canvas.lanes");
  const of = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  of.fillStyle = tare.color(name);
  of.fillRect(0, 0, 1, 1);
  const [red, green, blue] = of.getImageData(0, 0, 1, 1).data;
  of.drawImage(canvas, 0, 0);
  const { data } = of.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    count += data[i] === red && data[i + 1] === green && data[i + 2] === blue;
  }
  return count;
}"""


@pytest.fixture(scope="module")
def many_calls(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than are drawn one by one."""
    into = tmp_path_factory.mktemp("many")
    program = compile_c(MPICH, [ROOT / "workloads" / "bcast_barrier.c"], into / "program", "-O2")
    measured = measure(tare, MPICH, 2, [program, "-i", "12000", "-r", "1"], into / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    return into / "run"


@pytest.mark.parametrize("served", [False, True], ids=["file", "server"])
def test_waits_have_their_colour_at_every_zoom(
    browser: Any, many_calls: Path, tare: Path, tmp_path: Path, served: bool
) -> None:
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", many_calls, "-o", to], capture_output=True, timeout=120, check=True)
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    with viewing(tare, many_calls) as address:
        for opened in shown(context.new_page(), address if served else to.as_uri()):
            colours_far_and_near(opened, many_calls)
        context.close()


def colours_far_and_near(opened: Opened, run: Path) -> None:
    opened.page.evaluate("tare.timeline.show()")
    opened.wait(DRAWN)
    assert opened.page.evaluate("tare.timeline.shown.picture.calls === null")
    far = opened.page.evaluate(COLOURS, "waiting")
    assert far > 500
    # The part of the picture that has the colour is the part of the time.
    waited = sum(each.wait_ns for each in package.open(run).wait_report.waits)
    length = opened.page.evaluate("tare.timeline.about.length_ns")
    area = opened.page.evaluate(
        f"(({{ width, height }}) => width * height)(document.querySelector('{CANVAS}'))"
    )
    assert far / area == pytest.approx(waited / length / 2, rel=0.25)
    opened.page.get_by_role("button", name="Waiting for a rank").click()
    assert opened.page.evaluate(COLOURS, "waiting") == 0
    opened.page.get_by_role("button", name="Waiting for a rank").click()
    # Zoomed in on the longest wait, and said of it.
    search(opened, "waits")
    panel(opened, "MPI_")
    opened.page.locator(CANVAS).focus()
    opened.page.keyboard.press("Enter")
    opened.wait(DRAWN)
    # Beside a long wait there may lie more calls than are drawn one by one.
    while opened.page.evaluate("tare.timeline.shown.picture.calls === null"):
        opened.page.keyboard.press("+")
        opened.wait(DRAWN)
    opened.wait("tare.timeline.shown.waits?.count > 0")
    # The window may lie behind the wait of a call that lasted longer for another reason.
    assert opened.page.evaluate(COLOURS, "waiting") > 0


@pytest.mark.parametrize("name", ["late sender", "slow rank", "large collective", "slow iterations"])
def test_a_finding_leads_to_its_worst_instance(name: str, browser: Any, tare: Path, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    compiled = compile_c(MPICH, [planted.SOURCE], tmp_path / "planted", "-O2")
    measured = measure(tare, MPICH, program.ranks, [compiled, name], tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", measured.directory, "-o", to], capture_output=True, check=True)
    kind = program.answers[0].kind
    explained = json.loads(ask(tare, "explain", measured.directory, "--json", check=True).stdout)
    number = next(i for i, each in enumerate(explained["findings"]) if each["kind"] == kind)
    finding = explained["findings"][number]
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    opened = Opened(context.new_page(), to.as_uri())
    opened.page.locator("#overview .findings li").nth(number).locator("a").click()
    opened.wait(DRAWN)
    view, start = opened.page.evaluate("[tare.timeline.view, tare.timeline.about.start_ns]")
    run_start = json.loads((measured.directory / "meta.json").read_text())["start_ns"]
    if kind == "slow iterations":
        at = finding["first_ns"]
    else:
        said = panel(opened, finding["function"])
        run = package.open(measured.directory)
        waits = [each for each in run.wait_report.waits if each.function == finding["function"]]
        if kind == "large collective":
            calls = [
                call for call in events(tare, measured.directory) if call["function"] == finding["function"]
            ]
            longest = max(
                (call for call in calls if call["line"] == finding["line"]),
                key=lambda call: call["duration_ns"],
            )
            at = longest["start_ns"]
            assert f"Takes{units.duration(longest['duration_ns'])}" in said
        else:
            lines = {i for i, site in enumerate(run.sites) if site.line == finding["line"]}
            most = max((each for each in waits if each.site in lines), key=lambda each: each.longest_ns)
            at = most.longest_start_ns
            assert f"Waits{units.duration(most.longest_ns)} for rank" in said and f"rank {most.rank}" in said
    assert view["from"] < at - run_start - start < view["to"]
    assert opened.page.evaluate(f"document.activeElement === document.querySelector('{CANVAS}')")
    assert opened.complaints == []
    context.close()


def test_charts_of_iterations_lead_to_the_slowest(browser: Any, tare: Path, tmp_path: Path) -> None:
    """Their time, waiting and imbalance are those of the structure and of the waits; by keyboard alone."""
    compiled = compile_c(MPICH, [planted.SOURCE], tmp_path / "planted", "-O2")
    program = PROGRAMS["growing imbalance"]
    measured = measure(tare, MPICH, program.ranks, program.command(compiled), tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    run = package.open(measured.directory)
    traced = run.timeline()
    assert traced is not None
    shown_of_run = content.of_run(run, None, traced)
    curve = next(phase["curve"] for phase in shown_of_run["structure"] if "curve" in phase)
    loops = [loop for loop in run.structure.loops if loop.number == run.structure.loops[0].number]
    assert max(curve["longest_ns"]) == max(loop.longest_ns for loop in loops)
    assert len(curve["number"]) == max(loop.iterations for loop in loops)
    # Nearly all of what the others wait is in the iterations, and the slow rank computes that much longer.
    waited = sum(each.wait_ns for each in run.wait_report.waits) / len(run.processes)
    assert 0.5 * waited < sum(curve["waiting_ns"]) < 1.01 * waited
    assert sum(curve["imbalance_ns"]) > 0.5 * waited
    for row in shown_of_run["waits"]:
        assert len(row["by_time"]) == 8 and sum(row["by_time"]) == pytest.approx(row["wait_ns"], rel=1e-6)
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", measured.directory, "-o", to], capture_output=True, check=True)
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    opened = Opened(context.new_page(), to.as_uri())
    chart = opened.page.locator("#phases .chart").first
    chart.focus()
    slowest = max(range(len(curve["number"])), key=lambda i: curve["longest_ns"][i])
    opened.wait("document.querySelector('#phases .chart').dataset.ready")
    opened.page.keyboard.press("Home")
    for _ in range(slowest):
        opened.page.keyboard.press("ArrowRight")
    said = opened.texts("#phases .panel [role=status]")[0]
    assert said.startswith(f"iteration {slowest}; ") and units.duration(curve["longest_ns"][slowest]) in said
    opened.page.keyboard.press("Enter")
    opened.wait(DRAWN)
    view = opened.page.evaluate("tare.timeline.view")
    middle = curve["start_ns"][slowest] + curve["longest_ns"][slowest] / 2
    assert view["from"] < middle < view["to"]
    assert view["to"] - view["from"] == pytest.approx(4 * curve["longest_ns"][slowest], rel=0.5)
    opened.page.focus("#waitstates .tabulator-row")
    opened.page.keyboard.press("Enter")
    opened.wait("document.querySelector('#waitstates .detail .chart')?.dataset.ready")
    # Where there is little width, the legend takes more lines and no room of the chart.
    opened.page.set_viewport_size({"width": 400, "height": 900})
    entries = opened.page.locator("#phases .panel .legend").first.locator("li")
    assert entries.all_text_contents() == [
        "time, longest rank",
        "waiting, mean of the ranks",
        "imbalance of the computing",
    ]
    last = entries.last.bounding_box()
    assert last["y"] + last["height"] <= chart.bounding_box()["y"]
    assert opened.complaints == []
    context.close()


CONTRAST = """() => {
  const of = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    of.fillStyle = color;
    of.fillRect(0, 0, 1, 1);
    const bytes = [...of.getImageData(0, 0, 1, 1).data].slice(0, 3);
    const linear = (x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const part = bytes.map((byte) => linear(byte / 255));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const ratio = (a, b) => {
    const [more, less] = [light(a), light(b)].sort((x, y) => y - x);
    return (more + 0.05) / (less + 0.05);
  };
  const groundOf = (node) => {
    const own = getComputedStyle(node).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" ? groundOf(node.parentElement) : own;
  };
  const { textOn } = tare.timelinePaint;
  const found = tare.timelineData.ACTIVITIES.map((name) => [name, ratio(textOn(name), tare.color(name))]);
  const band = document.querySelector("#timeline .phases");
  band.hidden = false;
  const phase = (kind) => tare.element("span", { class: `kind-${kind}` }, `phase ${kind}`);
  band.replaceChildren(...[0, 1, 2, 3, 4, 5].map(phase));
  for (const button of document.querySelectorAll("#timeline .legend-buttons button")) button.click();
  for (const node of document.querySelectorAll("#timeline :is(button, span, p, dt, dd, h3)")) {
    if (!node.textContent || !node.checkVisibility()) continue;
    const { color, opacity } = getComputedStyle(node);
    found.push([node.textContent, ratio(color, groundOf(node)) * Number(opacity)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_what_it_stands_on(browser: Any, file: str, scheme: str) -> None:
    """WCAG asks for a contrast of 4.5: names in bars, phases, axis, labels, what the legend hides, panel."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=scheme)
    opened = Opened(context.new_page(), file)
    opened.page.evaluate("tare.timeline.panel.choose(0, 1)")
    opened.wait(f"!document.querySelector('{PANEL}').hidden")
    found = opened.page.evaluate(CONTRAST)
    assert len(found) > 40
    assert [(text, ratio) for text, ratio in found if ratio < 4.5] == []
    context.close()
