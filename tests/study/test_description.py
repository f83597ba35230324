"""Descriptions: errors that name line and key, and the runs that follow from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import ROOT
from tare import cli
from tare.errors import UsageError
from tare.lab.study import counts, description, placeholders, plan, runner, toolbox
from tare.lab.study.description import Description

BASE = """
[study]
repetitions = 3

[workload.one]
command = "true -n {size}"
parameters = { size = 1 }

[mpi.x]
launch = "env -n {ranks}"
family = "mpich"

[factors]
tool = ["none", "tare", "tare-trace"]
"""

# A tool with two parameters, and factors for them.
MINE = """
buffer = ["1M", "8M"]
write = [true, false]
size = [1, 2]
ranks = [2]

[tool.mine.parameter.buffer]
environment = { BUFFER = "{value}" }
[tool.mine.parameter.write.level]
true = {}
false = { environment = { SILENT = "1" } }
"""


EXCLUDED = "[[exclude]]\ntool = 'tare'\n"
SOLVE = "[workload.one.phase.solve]\nwall = 'solve ([0-9]+)'\n"
TRUE = "[[truth]]\ntime = 'hook'\npart = 'overhead'\nseconds = 1\n"


def read(tmp_path: Path, text: str) -> Description:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return description.read(path)


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("repetitions = 3", "repetitions = 'many'"), 3, "study.repetitions must be a whole number"),
        (
            ("repetitions = 3", "repetition = 3"),
            3,
            "study.repetition is not known here; do you mean 'repetitions'?",
        ),
        (
            ("repetitions = 3", "time_limit = '5 weeks'"),
            3,
            'study.time_limit must be a duration like 30, "30 s"',
        ),
        (("repetitions = 3", "repetitions = "), 3, "Invalid value"),
        (('command = "true -n {size}"\n', ""), 5, "workload.one.command is missing"),
        (("{size}", "{bigness}"), 6, "holds {bigness}, which is neither a factor nor in parameters"),
        (("-n {ranks}", ""), 10, "mpi.x.launch must hold {ranks}"),
        (('"tare"', '"tear"'), 14, "factors.tool has 'tear', which is none of:"),
        (('"none", ', ""), 2, "study.baseline is 'none', which is not among factors.tool"),
        (("[factors]", "[factors]\nspeed = [1, 2]"), 14, "factors.speed changes nothing"),
        (
            ("[factors]", "[factors]\nranks = [0]"),
            14,
            "factors.ranks has '0', which is not a number of ranks",
        ),
        (("[factors]", "[factors]\nsize = { a = 1 }"), 14, "factors.size must be a list of levels"),
        *(
            (("[factors]", f"[analysis]\nconfidence = {wrong}\n[factors]"), 14, "confidence must be above 0")
            for wrong in ("0", "1.0", "95", "nan", "inf", '"100 %"', "-0.5")
        ),
        *(
            (("[factors]", f"[analysis]\nprecision = {wrong}\n[factors]"), 14, "precision must be a share")
            for wrong in ("nan", "inf", "-0.01")
        ),
        (
            ("[factors]", "[analysis]\nresponses = ['net', 'nix']\n[factors]"),
            14,
            "analysis.responses has 'nix', which is none of: net, hook, wrap, overall, net cpu, "
            "net overhead by referee",
        ),
        (
            ("[factors]", "[[truth]]\ntime = 'nix'\npart = 'overhead'\nseconds = 1\n[factors]"),
            14,
            "truth.time has 'nix', which is none of: net, hook",
        ),
        (
            ("[mpi.x]", "[workload.one.phase.solve]\nwall = 'solve [0-9]+'\n[mpi.x]"),
            10,
            "workload.one.phase.solve.wall must have one group",
        ),
        (
            ("[mpi.x]", "[workload.one.phase.solve]\nwall = 'solve ('\n[mpi.x]"),
            10,
            "is no regular expression",
        ),
        (
            ("[mpi.x]", "[workload.one.phase.solve]\nwall = '(?P<rank>.) ([0-9]+)'\n[mpi.x]"),
            10,
            "workload.one.phase.solve.wall has two groups: it must have one",
        ),
        (
            ("[mpi.x]", "[workload.one.phase.solve]\nwall = '([0-9]+)'\ntake = 3\n[mpi.x]"),
            11,
            "take must be one of max",
        ),
        (("size = 1", "size = [1]"), 7, "workload.one.parameters.size must be a text"),
        (
            ("[factors]", f"{EXCLUDED}[[exclude]]\n'tool' = ['tare']\n[factors]"),
            16,
            "exclude.tool must be a text",
        ),
        (
            ("[factors]", f"{EXCLUDED}[[exclude]]\nspeed = 1\n[factors]"),
            16,
            "'speed' is not a factor of this study",
        ),
        (
            ("[factors]", f"{TRUE}{TRUE.replace('overhead', 'reading')}[factors]"),
            19,
            "truth.part must be one of instrumentation, writing, overhead",
        ),
        (
            ("[factors]", f"{TRUE}{TRUE.replace('hook', 'nix')}[factors]"),
            18,
            "truth.time has 'nix', which is none of",
        ),
        (
            ("[factors]", "[[truth]]\ntime = 'net'\nfactor = 'tool:nix'\nshare = 0.5\n[factors]"),
            15,
            "truth.factor has 'nix', which is none of: tool, mpi, residuals",
        ),
        (("repetitions", '"o - at `$.x`" = 1\nrepetitions'), 3, "is not known here; known: about, "),
        (("repetitions", '" - at `$.x" = 1\nrepetitions'), 3, "is not known here; known: about, "),
        (("[mpi.x]", '[mpi."a]=b"]\nlaunch = "x"\n[mpi.x]'), 10, "mpi.a]=b.launch must hold {ranks}"),
    ],
)
def test_errors_name_line_and_key(tmp_path: Path, change: tuple[str, str], line: int, message: str) -> None:
    assert change[0] in BASE
    with pytest.raises(UsageError) as raised:
        read(tmp_path, BASE.replace(*change, 1))
    assert message in str(raised.value)
    assert f"line {line}" in str(raised.value) or f":{line}:" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_line_is_that_of_the_key_also_after_texts_of_several_lines(tmp_path: Path) -> None:
    about = "about = '''\n[factors]\nwarmup = 0\n'''\nwarmup = 'x'"
    with pytest.raises(UsageError, match=r"study.toml:8: study.warmup must be a whole number"):
        read(tmp_path, BASE.replace("repetitions = 3", f"repetitions = 3\n{about}"))


@pytest.mark.parametrize(
    ("written", "line", "message"),
    [
        ("repetitions = 3\nrepetitions = 4", 4, "Cannot overwrite a value; write each key once"),
        ('x = {"(\'a)" = 1, "(\'a)" = 2}', 3, 'Duplicate inline table key "(\'a)"; write each key once'),
        ("x = 1\n['x\"'.')']\n['x\"'.')']", 5, 'Cannot declare [x".)] twice; write each table once'),
        ("[workload.one]", 5, "Cannot declare [workload.one] twice; write each table once"),
        ("title = mine", 3, "Invalid value; write a text in quotes"),
        ("pause = 5 min", 3, "Expected newline or end of document after a statement; write one KEY = VALUE"),
        ("title = 'mine", 3, 'Expected "\'"; end the text with the quote that it begins with'),
        ("title = 'mine\nabout = ''", 3, "Found invalid character '\\n'; end the text in its line"),
        ('title = "\\s"', 3, "Unescaped '\\' in a string; write the text in single quotes"),
        ("title", 3, "Expected '=' after a key in a key/value pair; write KEY = VALUE"),
        ("output = [1\nseed = 1", 4, "Unclosed array; end it with ]"),
        ("seed = 1\nx = {a = '''", 4, "Expected \"'''\"; end the text with the quote"),
        ('title = """', 3, "Unterminated string; end it with the quote that it begins with"),
        (f"x = {'[' * 5000}", None, "has too many brackets within one another"),
        (f"seed = {'1' * 5000}", None, "has a number that is too long"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_toml_is_told_in_a_line(
    tmp_path: Path, written: str, line: int | None, message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, BASE.replace("repetitions = 3", written))
    place = tmp_path / "study.toml"
    assert str(raised.value).startswith(f"{place}:{line}: {message}" if line else f"{place}: {message}")
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[study]\ntitle = '\xff'\n", ":2: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"\xef\xbb\xbf[study]\n", ":1: begins with a byte order mark; save it as UTF-8 without one"),
    ],
)
def test_what_is_no_text_is_told_in_a_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        description.read(path)
    assert str(raised.value) == f"{path}{message}"


HUGE = "1" + 400 * "0"
NO_COUNTS = ("0", "-1", "2.5", "3.0", "nan", "inf", "true", "'3'", "1_000_000_000_000", HUGE)
NO_DURATIONS = ("-1", "nan", "inf", "-inf", "1e300", HUGE, "'501 h'")
LIMIT = "study.time_limit must be above 0, and at most 500 h"


@pytest.mark.parametrize(
    ("change", "wrong", "line", "message"),
    [
        *(
            (("repetitions = 3", "repetitions = {}"), wrong, 3, "study.repetitions must be a whole number f")
            for wrong in NO_COUNTS
        ),
        *(
            (("[study]", "[study]\nwarmup = {}"), wrong, 3, "study.warmup must be a whole number from 0 to ")
            for wrong in NO_COUNTS[1:]
        ),
        *(
            (
                ("[study]", "[study]\nmost_repetitions = {}"),
                wrong,
                3,
                "must be a whole number from 1 to 100000",
            )
            for wrong in NO_COUNTS
        ),
        *(
            (("[mpi.x]", "ranks = {}\n[mpi.x]"), wrong, 9, "ranks must be a whole number from 1 to 10000000")
            for wrong in NO_COUNTS
        ),
        *(
            (("[factors]", "[factors]\nranks = [2, {}]"), wrong, 14, "numbers from 1 to 10000000")
            for wrong in (*NO_COUNTS[:-3], "'\u00b2'", "'\u0663'", "'02'", "10_000_001", HUGE)
        ),
        *(
            (
                ("[mpi.x]", f"{SOLVE}message_bytes = {{}}\n[mpi.x]"),
                wrong,
                11,
                "must be a whole number from 1 to",
            )
            for wrong in NO_COUNTS[:-2]
        ),
        *(
            (("[study]", "[study]\ntime_limit = {}"), wrong, 3, LIMIT)
            for wrong in ("0", "'0 s'", *NO_DURATIONS)
        ),
        *(
            (("[study]", "[study]\npause = {}"), wrong, 3, "study.pause must be from 0 to 500 h")
            for wrong in NO_DURATIONS
        ),
        *(
            (("[factors]", f"{TRUE.replace('1', '{}')}[factors]"), wrong, 16, "truth.seconds must be above 0")
            for wrong in ("0", *NO_DURATIONS[:-1])
        ),
        *(
            (("[factors]", f"{TRUE}within = {{}}\n[factors]"), wrong, 17, "truth.within must be")
            for wrong in ("-1", "nan", "5", "'101 %'", HUGE)
        ),
    ],
    ids=lambda value: None if isinstance(value, tuple) else str(value)[:20],
)
def test_numbers_out_of_range_are_refused(
    tmp_path: Path, change: tuple[str, str], wrong: str, line: int, message: str
) -> None:
    assert change[0] in BASE
    with pytest.raises(UsageError) as raised:
        read(tmp_path, BASE.replace(change[0], change[1].replace("{}", wrong), 1))
    assert message in str(raised.value)
    assert f"study.toml:{line}: " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_ends_of_the_ranges_are_taken(tmp_path: Path) -> None:
    numbers = "repetitions = 100_000\nwarmup = 0\nmost_repetitions = 1\ntime_limit = '500 h'\npause = 0"
    text = BASE.replace("repetitions = 3", numbers).replace("[mpi.x]", "ranks = 10_000_000\n[mpi.x]")
    found = read(tmp_path, text)
    assert (found.repetitions, found.warmup, found.most_repetitions) == (100_000, 0, 1)
    assert (float(found.time_limit_s), float(found.pause_s)) == (1_800_000, 0)
    assert found.workloads["one"].ranks == 10_000_000
    assert read(tmp_path, BASE).most_repetitions == 30
    assert read(tmp_path, BASE.replace("3", "20_000", 1)).most_repetitions == 100_000


def test_no_more_levels_are_combined_than_a_study_can_have(tmp_path: Path) -> None:
    many = BASE.replace("-n {size}", "-n {size} {other}") + f"size = {list(range(200))}\n"
    with pytest.raises(UsageError, match=r"toml:16: factors.other makes 180000 combinations .* has 100000"):
        read(tmp_path, f"{many}other = {list(range(300))}\n")


@pytest.mark.parametrize(
    "words",
    [["run", "--repetitions", "100001"], ["model", "--servers", HUGE], ["model", "--ranks-per-node", HUGE]],
)
def test_numbers_out_of_range_are_refused_in_options(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "study.toml"
    path.write_text(BASE)
    with pytest.raises(UsageError, match=f"{words[1]}: .* is more than 10*; see"):
        cli.run(["study", words[0], str(path), *words[1:]])


def test_no_more_runs_are_planned_than_a_study_can_have(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(BASE.replace("repetitions = 3", "repetitions = 100_000") + f"size = {list(range(7))}\n")
    with pytest.raises(UsageError, match=r"100001 blocks of 21 combinations are 2100021 runs; .* 2000000 at"):
        cli.run(["study", "run", str(path), "--dry-run"])
    assert cli.run(["study", "run", str(path), "--dry-run", "--repetitions", "90000"]) == 0
    assert cli.run(["study", "run", str(path), "--dry-run", "--until", "1%"]) == 0


def test_a_level_that_a_tool_does_not_know_is_told_with_its_line(tmp_path: Path) -> None:
    text = BASE.replace('"tare-trace"', '"mine"') + MINE.replace("[true, false]", "[true, 'no']")
    described = read(tmp_path, text)
    (wrong, *_) = [cell for cell in plan.cells(described) if cell.by_factor.get("write") == "no"]
    with pytest.raises(UsageError, match=r"toml:17: tool mine: 'no' is not a level of write; known: true, f"):
        runner.command(described, wrong, Path("output"), None)


def test_responses_are_all_times_of_the_report(tmp_path: Path) -> None:
    responses = ["net cpu", "solve", "solve wall", "net overhead by referee"]
    text = f"{BASE}\n{SOLVE}[analysis]\nresponses = {responses}\n"
    assert read(tmp_path, text).analysis.responses == tuple(responses)
    with pytest.raises(UsageError, match=r"has 'solve cpu', which is none of: .*, solve wall, .*, solve$"):
        read(tmp_path, text.replace("solve wall", "solve cpu"))


def test_only_combinations_that_differ_are_run(tmp_path: Path) -> None:
    text = BASE.replace('"tare-trace"', '"mine"') + MINE
    cells = plan.cells(read(tmp_path, text))
    # none and tare know neither buffer nor write; size belongs to the program.
    assert len(cells) == (1 + 1 + 4) * 2
    bare = [cell for cell in cells if cell.level("tool") == "none"]
    assert [cell.by_factor["buffer"] for cell in bare] == [None, None]
    excluded = text + '\n[[exclude]]\ntool = "mine"\nsize = 2\n'
    assert len(plan.cells(read(tmp_path, excluded))) == (1 + 1) * 2 + 4


def test_the_baseline_is_the_same_run_without_the_tool(tmp_path: Path) -> None:
    described = read(tmp_path, BASE + 'buffer = ["1M", "8M"]\nsize = [1, 2]\n')
    for cell in plan.cells(described):
        base = plan.baseline_of(described, cell)
        assert base is not None
        assert base.level("tool") == "none"
        assert base.level("size") == cell.level("size")
        assert base.by_factor["buffer"] is None


def test_the_order_is_random_within_blocks_and_the_same_every_time(tmp_path: Path) -> None:
    described = read(tmp_path, BASE + "size = [1, 2, 3, 4, 5]\n")
    cells = plan.cells(described)
    first, again = (list(plan.order(described, cells, range(1, 4))) for _ in range(2))
    assert first == again
    blocks = [[run.cell for run in first if run.block == block] for block in (1, 2, 3)]
    assert all(set(block) == set(cells) for block in blocks)
    assert blocks[0] != blocks[1]
    other = read(tmp_path, BASE.replace("repetitions", "seed = 2\nrepetitions") + "size = [1, 2, 3, 4, 5]\n")
    assert list(plan.order(other, cells, range(1, 4))) != first


def test_the_example_is_a_study(tmp_path: Path) -> None:
    from tare.lab import study

    described = read(tmp_path, (Path(study.__path__[0]) / "template.toml").read_text())
    assert set(described.tools) == {"none", "forward", "tare", "tare-trace"}
    assert placeholders.names(described.workloads["my-program"].command) == {"steps"}


def test_a_part_of_a_study_keeps_the_baseline(tmp_path: Path) -> None:
    described = read(tmp_path, BASE.replace('"tare-trace"', '"mine"') + MINE)
    part = description.narrowed(described, ["tool=mine", "size=2", "buffer=8M,1M"])
    cells = plan.cells(part)
    assert {cell.level("tool") for cell in cells} == {"none", "mine"}
    assert set(cells) < set(plan.cells(described))
    assert len(cells) == 1 + 4
    for wrong, message in (("tol=mine", "'tol' is not a factor"), ("size=3", "size has no level '3'")):
        with pytest.raises(UsageError, match=message):
            description.narrowed(described, [wrong])


@pytest.mark.parametrize("file", sorted((ROOT / "studies").glob("*.toml")), ids=lambda file: file.stem)
def test_ready_made_studies_are_studies(file: Path) -> None:
    described = description.read(file)
    cells = plan.cells(described)
    assert len(cells) >= 5
    for cell in cells:
        words = runner.command(described, cell, Path("output"), None).words
        assert not placeholders.names(words), "every placeholder has a value"
        for program in (Path(word) for word in words if "/workloads/" in word):
            source = ROOT / "workloads" / f"{program.name.removesuffix('_events')}.c"
            assert source.exists() or program.is_file(), "a program that is built, or a script or its input"
        assert all(Path(word).exists() for word in words if "/bench/" in word)
    assert any(f"studies/{file.name}" in page.read_text() for page in (ROOT / "docs").glob("*.md"))


def test_shipped_tools_say_what_to_do_where_they_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = toolbox.builtin_tools()
    own = {"none", "forward", "tare", "tare-trace", "tare-keep", "tare-samples", "tare-budget"}
    others = {"eztrace", "mpip", "ipm", "score-p", "extrae", "tau", "hpctoolkit", "pilgrim", "mpe", "darshan"}
    assert own | others | {"caliper"} == set(shipped)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    for name in ("eztrace", "score-p", "hpctoolkit"):
        why = toolbox.reason_unusable(shipped[name])
        assert why.startswith("no "), name
        assert ":" in why, "and what to do"
    assert toolbox.reason_unusable(shipped["none"]) == ""


def test_a_tool_that_another_mpi_cannot_use(tmp_path: Path) -> None:
    text = 'title = "t"\n[usable]\nmpi = ["openmpi"]\n'
    (tmp_path / "picky.toml").write_text(text)
    tool = toolbox.load(tmp_path / "picky.toml")
    assert toolbox.reason_unusable(tool, "openmpi") == ""
    assert "does not work with mpich" in toolbox.reason_unusable(tool, "mpich")


def test_events_are_counted_by_a_command(tmp_path: Path) -> None:
    """It counts them in all, or by rank, where one may be told several times."""

    def counted(said: str, pattern: str) -> counts.Counts:
        text = f'[count]\ncommand = ["printf", "%s", "{said}"]\nevents = \'{pattern}\'\n'
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return counts.of_run(toolbox.load(path), tmp_path / "output", {}, True)

    assert counted("1,204 events, 3 events", r"([\d,]+) events").events == 1207
    assert counted("none", r"(\d+) events").events is None
    by_rank = counted("rank 1: 7; rank 0: 40; rank 1: 1", r"rank (?P<rank>\d+): (\d+)")
    assert (by_rank.events, by_rank.trouble) == (48, "")
    assert [(each.rank, each.events) for each in by_rank.ranks] == [(0, 40), (1, 8)]
    assert "no number" in counted("", r"(\d+) events").trouble
    with pytest.raises(UsageError, match="one group"):
        counted("", r"(\d+) of (\d+)")


def test_commands_that_count_survive_placeholders() -> None:
    """Braces of other languages, which hold no name of a value, stay."""
    counter = toolbox.builtin_tools()["eztrace"].counter
    assert counter is not None
    filled = placeholders.fill_all(counter.command, {"output": "/out"}, "eztrace")
    assert filled == [*counter.command[:-1], "/out"]
