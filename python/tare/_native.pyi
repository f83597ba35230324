"""Typed stub of the compiled module: the reader of run directories."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from tare._tables import PeersRow, PhasesRow, ProfileRow

_Row = TypeVar("_Row")

FilePath = str | PathLike[str]

FORMAT_VERSION: int
DEFAULT_FAN_OUT: int
LONGEST_REGION: int
LARGEST_RING: int
LONGEST_CONTROL_NAME: int  # bytes, as of all that is longest here
LONGEST_CONTROL_TEXT: int
LONGEST_MONITOR_TEXT: int
LONGEST_REQUEST: int
ONCE: int
SMALLEST_RING: int

State = Literal["running", "finished", "exited", "aborted", "killed", "unknown"]
EventKind = Literal["region", "counter", "marker", "phase", "event", "packed", "raw"]

class Error(Exception):
    """Every failure of reading; the message is one line that says what to do."""

def sample_method(spec: str) -> Literal["stat", "freq", "write", "off"]:
    """The method of a spec of message sampling; ValueError, with what it ought to be, if it is none."""

class LineCode(TypedDict):
    """The code of a line of an object."""

    ranges: list[tuple[int, int]]  # addresses in the object; without the second one
    file_known: bool  # there is code of such a file
    before: int | None  # the nearest lines of the file with code
    after: int | None

def student_95(freedom: float) -> float:
    """The two-sided 95 % quantile of Student's t distribution."""

def short_name(name: str) -> str:
    """A function's name as people say it: of C++ without arguments and template arguments."""

def short_name_with_inlined(name: str) -> str:
    """The same for "a (inlined in b)"."""

def code_of_line(object: str, file: str, line: int) -> LineCode:
    """The code of all files whose path is `file` or ends in it, folder by folder."""

class Collected(TypedDict):
    processes: int
    running: int
    unknown: int  # processes of which nothing here tells whether they run
    recovered_events: int
    kept: int
    messages: list[str]

class Cost(TypedDict):
    call_ns: float
    timed_call_ns: float
    lookup_ns: float
    event_ns: float
    events: int
    wrapper_ns: int
    wrapper_error_ns: float | None  # half the width of its interval of 95 %; None: not known
    weighed: int  # calls
    hook_init_ns: int
    hook_finalize_ns: int
    flushes: int
    flush_ns: int
    flush_bytes: int
    drains: int
    drain_ns: int
    drain_bytes: int
    offload_points: int  # of monitored runs, and the next
    offloads: int
    offloads_lost: int
    offload_ns: int
    offload_max_ns: int
    offload_wait_ns: int
    dropped: int
    net_share: float

class TotalCost(TypedDict):
    """The cost accounts of several processes: sums, if nothing else is said (analysis.ranks.TotalCost)."""

    calls: int
    counted: int  # part of `calls` that was only counted
    call_ns: float
    timed_call_ns: float
    lookup_ns: float
    event_ns: float
    events: int
    wrapper_ns: int
    wrapper_error_ns: float | None
    weighed: int
    net_share: float
    wall_share: float
    hook_init_ns: int
    hook_finalize_ns: int
    flushes: int
    flush_ns: int
    flush_bytes: int
    drains: int
    drain_ns: int
    drain_bytes: int
    offload_points: int
    offloads: int
    offloads_lost: int
    offload_ns: int
    offload_max_ns: int
    offload_wait_ns: int
    dropped: int

class Trace(TypedDict):
    """The trace of a process, or of several: the policy is the first one's, and all must be `written`."""

    events: int
    bytes: int
    dropped: int
    overwritten_bytes: int
    policy: Literal["block", "drop", "overwrite"] | None
    kept_newest: bool  # a buffer could not be written out: from then on, its newest events were kept
    no_space: bool  # for want of space
    written: bool

class Process(TypedDict):
    world: int
    rank: int
    size: int
    host: str
    pid: int
    threads: int
    thread_names: list[ThreadName]
    unmeasured_threads: int
    reduced: list[str]  # what there was too little memory for
    left_calls: int
    state: State
    exit_code: int | None
    signal: int | None  # that killed it, where that was seen
    finalized: bool  # has left MPI_Finalize
    stopped: bool  # by a signal or a debugger
    executable: str
    mpi: str
    abi: str
    start_ns: int
    wall_ns: int
    net_ns: int
    threads_ns: int  # net time of all threads that call MPI, together
    mpi_ns: int
    unreturned_ns: int  # of mpi_ns: in calls that have not returned
    until: Literal["exit", "end", "command", "last_seen", "now"]  # what the times go up to (docs/json.md)
    calls: int
    counted: int  # part of `calls` that was only counted
    cost: Cost
    trace: Trace

class Spell(TypedDict):
    """What a process did between two synchronisation points (src/recorder/spells.h)."""

    world: int
    rank: int
    spell: int
    measured: bool
    traced: bool  # not only in the profile
    cut: bool  # less was kept of its end than of its begin
    control: bool  # only counted, at random: the others are compared with it
    has_requests: bool
    sync_points: int
    first_site: int
    last_site: int
    begin_ns: int
    ns: int
    flush_ns: int
    measured_calls: int
    counted_calls: int
    counted_polls: int

class Exchange(TypedDict):
    """What the ranks of a world sent to one another, by groups of `group` ranks with neighbouring numbers."""

    world: int
    size: int
    group: int
    cells: list[tuple[int, int, int, int]]  # from and to which group, messages, bytes; sorted
    elsewhere: int  # messages sent to ranks that are not known, or of other worlds
    messages: int  # sent, and received
    between: int  # sent from a rank to another of the world
    busiest: int  # the rank with the most of these, as sender or receiver; -1: there are none
    busiest_messages: int

class Frame(TypedDict):
    """A place in the program where a function was called; None where nothing is known."""

    object: str
    offset: int
    caller: str | None
    file: str | None
    line: int | None
    tail_call: (
        str | None
    )  # the function called here, if it went on to the frame before, or to MPI, by a tail call

class Site(TypedDict):
    """A call path; its own fields are those of the frame that stands for it, `path[shown]`."""

    object: str
    offset: int
    caller: str | None
    file: str | None
    line: int | None
    tail_call: str | None
    path: list[Frame]  # innermost first
    shown: int
    cut: bool  # the stack goes on, but how is not known
    left_out: bool  # frames between the last one and the one before it

class Communicator(TypedDict):
    world: int
    name: str
    size: int
    inter: bool
    key: int  # equal on all members; 0 if not known
    members: list[tuple[int, int, int]] | None  # ranks in the world: first, stride, count
    remote_members: list[tuple[int, int, int]] | None  # of an intercommunicator

class Scope(TypedDict):
    world: int
    kind: Literal["window", "file"]
    name: str
    communicator: int  # index of `Run.communicators()`, -1 if not known
    key: int  # as of a communicator
    flavour: NotRequired[Literal["create", "allocate", "shared", "dynamic", "unknown"]]  # of windows

class ThreadName(TypedDict):
    thread: int
    name: str

class PendingRequest(TypedDict):
    """A request of a process that has not been completed; numbers as in CurrentCall."""

    function: str  # that started it
    site: int
    communicator: int
    peer: int | None
    peer_world: int | None
    tag: int | None
    bytes: int | None
    start_ns: int
    receives: bool
    waited_for: bool  # in the call that the thread is in

class CurrentCall(TypedDict):
    """The call that a thread is in (`inside`), or its last one.

    `site` and `communicator` are indices as in ProfileSum. Peers are ranks in the communicator as they were
    passed, -1: any, -2: none; in the world, as far as they are known.
    """

    world: int
    rank: int
    process: int  # index in Run.processes()
    thread: int
    function: str
    inside: bool
    site: int
    communicator: int
    peer: int | None
    peer_world: int | None
    tag: int | None
    source: int | None
    source_world: int | None
    source_tag: int | None
    enter_ticks: int
    enter_ns: int
    leave_ns: int | None
    requests: int  # that a call of MPI_Wait and similar functions waits for
    pending: list[PendingRequest]  # of the process

class EventRequest(TypedDict):
    """One of several requests that a call started or completed."""

    request: NotRequired[int]
    starter: NotRequired[int]
    communicator: NotRequired[int]
    peer: NotRequired[int]
    peer_world: NotRequired[int]
    tag: NotRequired[int]
    bytes: NotRequired[int]

class SampleRow(TypedDict):
    """Sampled messages of a class, received by `destination`."""

    world: int
    source: int  # -1: of classes that are not told apart
    destination: int
    send_site: int  # of Run.sites(); -1 if not known
    receive_site: int
    bytes: int
    between_nodes: bool
    count: int
    unexpected: int
    weight: float | None  # number of messages that they represent; None: not known
    weight_squared: float | None
    latency_ns: int
    min_ns: int
    max_ns: int
    squared_ns2: float
    late_sender_ns: int
    unposted_ns: int
    unwaited_ns: int
    transfer_ns: int
    uncertainty_ns: int
    histogram: list[int] | None  # by bit width of nanoseconds: up to 5, 6, 7, ...

class SampleSummary(TypedDict):
    """What became of the messages that a rank sent and received."""

    world: int
    rank: int
    spec: str
    sent: int
    received: int
    chosen: int
    paired: int
    ambiguous: int
    ambiguous_received: int
    unnumbered: int
    unpaired: int
    recordless: int
    contradictory: int
    lost: int
    unreachable: int
    clock_uncertainty_ns: int
    clock_end_uncertainty_ns: int
    clock_drift_ns: int
    clock_span_ns: int
    clock_rank: int
    joining: list[
        str
    ]  # how far the ranks have come to tell one another of messages: names of format::SampleJoining

class EventRow(TypedDict):
    """A call, which has `duration_ns` and `function`, or an event of the API, which has `kind` and `name`."""

    start_ns: int
    rank: int
    thread: int
    world: int
    duration_ns: NotRequired[int]
    function: NotRequired[str]
    kind: NotRequired[EventKind]
    name: NotRequired[str]
    begin: NotRequired[bool]
    value: NotRequired[float]
    unit: NotRequired[str]
    parameters: NotRequired[list[int | float]]
    text: NotRequired[str]
    site: NotRequired[int]
    peer: NotRequired[int]
    peer_world: NotRequired[int]
    received: NotRequired[int]
    source: NotRequired[int]
    source_world: NotRequired[int]
    source_tag: NotRequired[int]
    tag: NotRequired[int]
    bytes: NotRequired[int]
    communicator: NotRequired[int]
    scope: NotRequired[int]
    thread_name: NotRequired[str]
    request: NotRequired[int]
    starter: NotRequired[int]
    requests: NotRequired[list[EventRequest]]
    root: NotRequired[int]
    records: NotRequired[int]
    arguments: NotRequired[dict[str, int]]  # of a call of another source than MPI

class ReplayedWorld(TypedDict):
    """A world on an ideal network."""

    world: int
    obstacle: str | None  # why it could not be replayed; the rest is 0 then
    runtime_ns: int
    ideal_ns: int
    useful_ns: int  # of the rank with the most
    unknown_ns: int  # of the rank with the most, in calls that were kept as they are

class Exported(TypedDict):
    """What an export has written, and what it lacks."""

    events: int  # calls and events of the program
    open: int  # regions and phases without an end
    ends: int  # and without a begin
    obstacle: str | None  # why messages were not all found

class EventTable:
    """Events, for anything that reads Arrow; every stream of it reads them anew."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Table(Generic[_Row]):
    """A table of a run, for anything that reads Arrow; every stream of it reads the run anew."""

    def rows(self) -> list[_Row]:
        """All rows, as named tuples; columns that this table lacks are None."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def head(self, most: int) -> tuple[list[str], list[list[object]], int | None]:
        """Names of the columns, the first rows, and the number of all rows if it is known at the start."""

    def _repr_html_(self) -> str: ...

WaitKind = Literal[
    "late sender",
    "late receiver",
    "wait at barrier",
    "wait at NxN",
    "late broadcast",
    "early reduce",
    "early scan",
]

class WaitSum(TypedDict):
    """Wait states in the calls of one function and site of a rank."""

    world: int
    rank: int
    kind: WaitKind
    function: str
    site: int  # of Run.sites(), -1 if not known; so everywhere here
    waits: int
    wait_ns: int
    longest_ns: int

class AwaitedSum(TypedDict):
    """The waits of one kind in the calls of a site, by the rank that they waited for."""

    world: int
    rank: int  # that was waited for
    kind: WaitKind
    function: str
    site: int
    wait_ns: int

class RootSum(TypedDict):
    """The part of the waits of a kind in the calls of a site that an activity of a rank caused in the end."""

    world: int
    kind: WaitKind
    function: str
    site: int
    cause_rank: int  # -1: not explained
    cause_function: str  # that is called at `cause_site`
    cause_site: int  # of the activity: in calls of this site, or before them
    cause_in_call: bool
    waits: int
    wait_ns: float
    longest_ns: float
    by_time: list[float]  # `wait_ns` in equally long parts of the run
    waits_by_time: list[int]  # and `waits`
    by_rank: dict[int, float]  # `wait_ns` of each rank that waited

class WrongOrder(TypedDict):
    """Receives that waited while another message had arrived, which the rank worked on only afterwards."""

    world: int
    rank: int
    function: str
    site: int
    waits: int
    time_ns: int  # of the waits: what the rank could have worked meanwhile

class OutsideSum(TypedDict):
    """Time of a rank outside MPI before the calls of a site."""

    world: int
    rank: int
    function: str
    site: int
    time_ns: int

class PathSum(TypedDict):
    """Time of a rank on the critical path: in calls of a site, or before them; -1: behind the last call."""

    world: int
    rank: int
    function: str
    site: int
    in_call: bool
    time_ns: int

class ClockViolation(TypedDict):
    """Messages that seem to have been received before they were sent."""

    world: int
    source: int
    destination: int
    messages: int
    most_ns: int  # by at least so much the clocks disagree

class Violations(TypedDict):
    """Calls of a rank that ended before the other rank, whom they needed, began: by the clocks."""

    world: int
    rank: int
    other_rank: int
    messages: int
    collectives: int
    most_ns: int  # the clock of `rank` is behind that of the other by at least so much

class ClockCorrection(TypedDict):
    """What src/reader/retiming did to the clocks."""

    violations: list[Violations]  # as recorded, the worst first
    max_moved_ns: int
    rounds: int  # readings of the trace
    remaining: int  # calls that are still violated
    warnings: list[str]

class Compensation(TypedDict):
    """What was taken out of the times of a trace: of all threads together."""

    flush_ns: int
    wrapper_ns: int
    earlier_ns: int  # the trace ends so much earlier
    warnings: list[str]

class WaitReport(TypedDict):
    """What a traced run waited for; each list begins with what is largest."""

    waits: list[WaitSum]
    awaited: list[AwaitedSum]
    causes: list[RootSum]
    wrong_order: list[WrongOrder]
    outside: list[OutsideSum]  # by rank and site
    critical_path: list[PathSum]
    clock_violations: list[ClockViolation]
    warnings: list[str]

class DetectedPhase(TypedDict):
    """A stretch of time in which the ranks of a world do alike."""

    world: int
    number: int  # in its world, in the order of time
    phase: str  # "A", …; equal where the ranks do alike
    start_ns: int
    end_ns: int
    mpi_share: float  # of the time of the ranks
    function: str  # the call that most of the time is in and before
    site: int
    outside_calls: bool  # all of that time is outside MPI, before the call
    line_share: float

class SlowIteration(TypedDict):
    """One of the longest iterations, if it takes more than twice the median."""

    iteration: int
    start_ns: int
    duration_ns: int
    mpi_ns: int
    cause_rank: int
    cause_function: str
    cause_site: int
    cause_in_call: bool
    cause_ns: int  # beyond the usual

class Loop(TypedDict):
    """The iterations of a rank in a detected phase."""

    world: int
    rank: int
    number: int  # of the phase
    function: str  # whose calls begin the iterations
    site: int
    iterations: int
    median_ns: int
    longest_ns: int
    slow_iterations: int
    beyond_ns: int
    slow: list[SlowIteration]

class Structure(TypedDict):
    """The phases by world and time, the loops by world, phase and rank."""

    phases: list[DetectedPhase]
    loops: list[Loop]

class ArchivedFile(TypedDict):
    member: str
    kind: Literal["run", "file"]
    name: str
    size: int
    offset: int
    present: int

# Of a process its pid, when it ended (CLOCK_MONOTONIC_RAW), its status as of waitpid where that was seen.
Seen = tuple[int, int, int | None]

class EndingWatch:
    """How and when the processes of this machine end that make segments of a run."""

    def __init__(self, run_dir: FilePath, segment_dir: FilePath, run_id: str) -> None: ...

def collect(
    run_dir: FilePath,
    segment_dir: FilePath,
    run_id: str,
    run_key: str = "",
    command_ended_ns: int | None = None,
    watch: EndingWatch | None = None,
    command: Seen | None = None,
    presume_ended: bool = False,
) -> Collected:
    """Drains dead processes' segments into the run directory and stores symbols."""

def collector(directories: Sequence[FilePath]) -> str:
    """TARE_COLLECTOR of a process that collects from these directories."""

def machine_name() -> str:
    """The running kernel, in 16 hexadecimal digits."""

def pid_namespace_name() -> int:
    """The name of this process's PID namespace; 0 if /proc shows another one."""

def is_archive(path: FilePath) -> bool:
    """Whether the file begins as an archive does."""

# Of events of rounds.
Kind = Literal["function", "region", "phase", "counter"]

class Ranks:
    """A set of ranks. A file may name two billions: what shows rounds goes through runs, not ranks."""

    def __init__(self, runs: Sequence[tuple[int, int]] = ()) -> None: ...
    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """(first rank, number of ranks) of each run of successive ranks."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

class Statistic:
    """One metric of an event over the ranks that have the event."""

    @property
    def mean(self) -> float: ...
    @property
    def deviation(self) -> float:
        """The standard deviation of the population."""

    @property
    def least(self) -> float: ...
    @property
    def most(self) -> float: ...
    @property
    def least_rank(self) -> int:
        """The lowest rank with the least value."""

    @property
    def most_rank(self) -> int:
        """The lowest rank with the largest value."""

class Event:
    """An event of a round."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def ranks(self) -> int:
        """Number of ranks that have it."""

    @property
    def calls(self) -> Statistic: ...
    @property
    def time(self) -> Statistic:
        """The time in ns."""

    @property
    def bytes(self) -> Statistic:
        """The bytes; of a counter, the value."""

class Bins:
    """A histogram. Bin i has the ranks with values from (first + i) * width to below (first + i + 1) * width.

    Widths are powers of two, so a wider bin consists of whole narrower ones."""

    def __init__(self, exponent: int, first: int, counts: Sequence[int]) -> None: ...
    @property
    def exponent(self) -> int:
        """The width is 2 ** exponent."""

    @property
    def first(self) -> int: ...
    @property
    def counts(self) -> tuple[int, ...]:
        """The number of ranks in each bin."""

    @property
    def width(self) -> float:
        """The width of a bin, in the unit of the metric."""

    def low(self, bin: int) -> float:
        """The beginning of a bin; bin `len(counts)` would begin where the last one ends."""

    def widened(self, exponent: int) -> Bins:
        """The same ranks in bins that are as wide or wider."""

    def __eq__(self, other: object) -> bool: ...

class Pace:
    """A decision of `--monitor=auto`: the interval that all ranks keep."""

    @property
    def from_round(self) -> int:
        """The first round for which it holds."""

    @property
    def interval_ns(self) -> int: ...
    @property
    def boi_ns(self) -> float:
        """0: not known yet."""

    @property
    def rest_ns(self) -> float:
        """The one-way delay at rest; 0: not known yet."""

class Round:
    """A round. Times are Unix times in ns. Sums are since the start of the program."""

    @property
    def round(self) -> int:
        """Its number."""

    @property
    def first_ns(self) -> int:
        """The first offload."""

    @property
    def last_ns(self) -> int:
        """The last offload."""

    @property
    def arrived_ns(self) -> int:
        """The arrival of its last part at the root."""

    @property
    def delay_ns(self) -> int:
        """The time from the first offload until all of the round had arrived."""

    @property
    def ranks(self) -> Ranks:
        """Ranks whose snapshots are in it."""

    @property
    def lost(self) -> Ranks:
        """Other ranks that took part at that time."""

    @property
    def filter(self) -> str:
        """What reduced it; empty: it was lost."""

    @property
    def size(self) -> int:
        """Bytes of the result of the filter."""

    @property
    def events(self) -> list[Event]:
        """The events of the filter `statistics`. Those with impossible numbers are left out."""

    @property
    def has_histograms(self) -> bool: ...
    def histograms(self) -> dict[tuple[Kind, str], Bins]:
        """The time over ranks, or the value of a counter, by kind and name of an event. Damaged ones are left
        out."""

class RoundFile:
    """One file of rounds, which may grow."""

    def __init__(self, path: FilePath, begin: int = 0, end: int | None = None) -> None:
        """Opens the bytes from `begin` to `end` of an archive, or without `end` a file of a run."""

    def read(self) -> tuple[list[Round], bool]:
        """The rounds since the last call, or the first of them; whether these were all. Damaged ones are left
        out."""

    def decoded(self, payload: bytes) -> list[Round]:
        """The rounds in the payload of a chunk."""

    @property
    def paces(self) -> list[Pace]:
        """The paces, up to what was read."""

def total_events(rounds: Sequence[Round]) -> list[Event]:
    """Each event of rounds of different ranks once, by kind and name: what it has had since the start."""

def merged_bins(parts: Sequence[Bins]) -> Bins:
    """The ranks of all of them in bins of the widest; in wider ones if they lie far apart."""

def main_metric(kind: Kind) -> str:
    """The metric that is shown of an event where there is room for one."""

FILTERS: tuple[str, ...]

def split_filters(filters: FilePath) -> list[str]:
    """One or several filters with a plus between them, each with its arguments."""

class ImportedEvents(TypedDict):
    """What an import of a trace without MPI has found."""

    processes: int
    threads: int
    events: int
    start_ns: int  # unix, of the first event
    wall_ns: int  # to the last
    host: str

def is_litl(path: str) -> bool:
    """Whether the file begins as a trace of LiTL does."""

def import_litl(trace: str, file: str, start_ns: int) -> ImportedEvents:
    """Makes a new file of a run of a trace of LiTL, whose first event was then."""

def event_columns() -> list[str]:
    """The columns of the table of events."""

def tables() -> list[tuple[str, str]]:
    """The tables of a run: names, and what a row is."""

def empty_run() -> Run:
    """A run in which nothing was recorded."""

class Archive:
    """What is in an archive of runs; opens it for as long as a call takes."""

    def __init__(self, path: FilePath) -> None: ...
    def files(self) -> list[ArchivedFile]: ...
    def warnings(self) -> list[str]: ...
    def extract(self, number: int, to: FilePath, check: bool, progress: Callable[[int], None]) -> None: ...

class ArchiveWriter:
    """Makes a new archive; it is one only after finish()."""

    def __init__(self, path: FilePath) -> None: ...
    def add_file(self, member: str, path: FilePath, progress: Callable[[int], None]) -> None: ...
    def add_run_file(
        self, member: str, run_dir: FilePath, name: str, progress: Callable[[int], None]
    ) -> None: ...
    def add_archived(
        self, member: str, archive: Archive, number: int, progress: Callable[[int], None]
    ) -> None: ...
    def finish(self) -> None: ...

ACTIVITIES: list[str]

class TimelineRow(TypedDict):
    """A location with events."""

    world: int
    rank: int
    thread: int
    events: int

class Timeline:
    """A trace as a picture in time, at any zoom; read once. Times of methods are since `start_ns`.

    Bytes are columns one after another, each padded to 8 bytes, as assets/timeline_data.js reads them.
    Bins: the share of each of ACTIVITIES (u8, 255 is all), row by row; the function with the most time (u16,
    an index of `Run.functions()`, 65535: none). Calls: start, duration, bytes (f64), row (u32), site, peer
    (i32), function (u16; 65534: a flush). Messages: sent, how long until received, bytes (f64), rows from and
    to (u32), tag (i32).
    """

    start_ns: int
    end_ns: int
    def rows(self) -> list[TimelineRow]: ...
    def bins(self, first: int, rows: int, group: int, from_ns: int, to_ns: int, columns: int) -> bytes:
        """`rows` rows from location `first` on, each of `group` locations."""
    def calls(self, first: int, rows: int, from_ns: int, to_ns: int, most: int) -> tuple[int, bytes] | None:
        """How many calls and flushes touch the window, and their columns; None if more than `most`."""
    def longest(self, most: int) -> tuple[int, int, bytes]:
        """All calls of at least so many nanoseconds (0: all), how many, and their columns; at most `most`."""
    def match(self, most: int) -> tuple[int, int]:
        """Matches messages, keeps the `most` that took longest: how many were kept, how many there are."""
    def stop(self) -> None:
        """Ends match() of another thread early."""
    def messages(
        self, first: int, rows: int, from_ns: int, to_ns: int, most: int
    ) -> tuple[int, bytes] | None:
        """The longest of those kept that touch the window; None before match()."""

class Run:
    """A run directory, or a run of an archive, and the segments of it that are not yet collected."""

    def __init__(
        self,
        run_dir: FilePath,
        segment_dir: FilePath = "",
        run_id: str = "",
        member: str = "",
        is_going_on: bool = False,
        run_key: str = "",
    ) -> None: ...
    def processes(self) -> list[Process]: ...
    def process_count(self) -> int: ...
    def total_cost(self, world: int | None = None) -> TotalCost:
        """The cost of all processes, or of the ranks of a world."""

    def total_trace(self, world: int | None = None) -> Trace: ...
    def exchanges(self, max_groups: int) -> list[Exchange]: ...
    def expect_exchanges(self, max_groups: int) -> None: ...
    def spells(self) -> list[Spell]: ...
    def functions(self) -> list[str]:
        """Names of the functions that the run may have calls of."""

    def event_names(self) -> list[str]:
        """Names of the program's own events."""

    def sites(self) -> list[Site]: ...
    def scopes(self) -> list[Scope]: ...
    def communicators(self) -> list[Communicator]: ...
    def current_calls(self) -> list[CurrentCall]: ...
    def samples(self) -> list[SampleRow]: ...
    def sample_summaries(self) -> list[SampleSummary]: ...
    def events(
        self,
        ranks: Sequence[int] | None = None,
        functions: Sequence[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        limit: int = 0,
    ) -> Iterator[list[EventRow]]: ...
    def event_table(
        self,
        ranks: Sequence[int] | None = None,
        functions: Sequence[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        limit: int = 0,
        columns: Sequence[str] | None = None,
    ) -> EventTable:
        """The same, one location after another; ValueError if there is no such column."""
    def table(self, name: str) -> Table[Any]:
        """ValueError if there is no such table."""
    def profile(
        self,
        by: Sequence[str],
        functions: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
        worlds: Sequence[int] | None = None,
    ) -> Table[ProfileRow]:
        """The profile by these keys; ValueError if there is no such key."""
    def expect_profile(
        self,
        by: Sequence[str],
        functions: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """The next reading of the profiles answers what it asks, too."""
    def peers(
        self,
        by: Sequence[str],
        worlds: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
    ) -> Table[PeersRow]: ...
    def phases(
        self,
        by: Sequence[str],
        worlds: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
    ) -> Table[PhasesRow]: ...
    def expect_phases(self) -> None: ...
    def export_perfetto(
        self,
        path: str,
        start_ns: int,
        ranks: Sequence[int] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> Exported:
        """Writes the trace for Perfetto."""
    def export_paje(
        self,
        path: str,
        start_ns: int,
        ranks: Sequence[int] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> Exported:
        """Writes the trace in Pajé's format; the rest as export_perfetto()."""
    def wait_report(self) -> WaitReport:
        """Reads the trace twice."""
    def structure(self) -> Structure:
        """Reads the trace twice."""
    def clock_violations(self) -> list[Violations]:
        """Reads the trace."""
    def correct_clocks(self) -> ClockCorrection:
        """Moves the times of all events from now on; reads the trace once for each rank in a row."""
    def compensate(self) -> Compensation:
        """Moves the times of all events from now on; reads the trace."""
    def replay(self) -> list[ReplayedWorld]:
        """How long each world would have taken on an ideal network; reads the whole trace."""
    def timeline(self) -> Timeline:
        """Reads the whole trace."""
    def warnings(self) -> list[str]: ...
