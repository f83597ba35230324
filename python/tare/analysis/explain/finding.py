"""One thing that limits a program, and the limits below which nothing is said (docs/analyses.md)."""

from __future__ import annotations

from dataclasses import dataclass

from tare.analysis.rows import UNKNOWN, Placed

# The share of the ranks' time that something must take to be a finding.
MIN_SHARE = 0.05
MAX_FINDINGS = 8
# A wait of which the cause is not known is a finding if its calls are so much of the critical path.
MIN_GAIN = 0.01
# Of what is not explained.
MIN_MPI_SHARE = 0.15
# Shorter calls, made more often than this by a rank, are limited by how many they are.
SHORT_CALL_NS = 20_000
OFTEN_PER_S = 10_000
# A message that carries at most this much is one of many that could have been one.
TINY_BYTES = 1024
# A collective that moves at least this much for each rank is limited by the network and by memory.
LARGE_BYTES = 1024 * 1024
# From so many polls for each message on, most polls are unsuccessful.
POLLS_FOR_MESSAGE = 10
# A rank through which so much of the messages goes is a hot spot.
HOT_SHARE = 0.9
# Of all computing, what must be on the critical path for it to be one after the other; and the part of the
# path that one rank may have at most.
SERIAL_SHARE, SERIAL_RANK_SHARE = 0.75, 2 / 3
# One rank is the slow one if the others differ (longest minus mean) by at most this part of how much longer
# it computes.
DIFFER = 0.3
# A single rank is late if it causes so much of the waiting.
ONE_LATE = 0.9
# Ranks that wait less than this, as a share of the one that waits longest, are not named.
NAMED = 0.1
# Waits grow if they become so many times as long, and a line through their means in the parts of the run
# explains so much of how these differ. Each rank waits so often in each part; else each mean must be larger
# than the one before.
GROWS = 2.0
STEADY = 0.7
SEVERAL_WAITS = 5
# A rank that computes at most so much, as a share of what the others do, only gives them work.
SERVES = 0.1
# A worker is slow if its tasks take so many times as long as those of the others.
SLOW_WORKER = 1.5
# So many tasks of a worker take as long as they do because of the worker.
SEVERAL_TASKS = 5
# Shorter ones are slow by chance: a time slice of the operating system lasts longer.
SHORTEST_ITERATION_NS = 1_000_000
# Of the calls of a barrier, how many must be followed at once by a collective.
FOLLOWED_SHARE = 0.9
# Threads work evenly if the one with the most works less than so many times as long as the others.
UNEVEN = 1.1
# Who was on no processor of its own accord for more of its time than this does not compute, but is blocked.
BLOCKED = 0.5
# Waits in which only some of the ranks of a call wait for others.
OF_ROOTS = ("late broadcast", "early reduce", "early scan")
# With less time in which to look, chance is larger than anything that could be found.
SHORTEST_NS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding. Fields that its kind does not have keep their defaults. Times are sums over ranks, in ns."""

    kind: str  # docs/analyses.md
    share: float = 0.0  # share of `time_ns` in the net time of all ranks
    time_ns: int = 0  # the time that it takes
    lost_ns: int = 0  # part of it that ranks lose: no other finding has it. Of computing, nothing is lost
    gain_ns: int | None = None  # what the program would take less without it, at most; None: not known
    function: str = ""  # the function in which the time is spent
    at: Placed = UNKNOWN  # where it is called
    here_share: float | None = None  # of waits: the part of `time_ns` in these calls; the rest is in others
    ranks: tuple[int, ...] = ()  # ranks that wait; for imbalance, ranks that compute longer than the others
    calls: int = 0
    bytes_per_call: float | None = None
    per_second: float | None = None  # calls per second of a rank
    cause_rank: int | None = (
        None  # the rank that caused most of it in the end, on whatever ranks it was passed on
    )
    cause_share: float | None = None  # share of the time that is due to it
    cause_function: str = ""  # what this rank does when it is late: it is in this call, or before it
    cause_at: Placed = UNKNOWN  # where this function is called
    cause_in_call: bool = False  # True: in the call; False: outside MPI before it
    # How much of that time it slept, waited in the kernel or was stopped; None: not known.
    cause_blocked: float | None = None
    # The function of the program in which that rank spends more processor time than the others on average, by
    # samples of stacks; "": it is not known.
    cause_code: str = ""
    cause_code_ns: int | None = None  # by how much
    # The call on a file, or the region of OpenMP, that takes that rank longer than the others on average; ""
    # if it is not known.
    longer_in: str = ""
    longer_at: Placed = UNKNOWN
    longer_ns: int | None = None  # by how much
    used_file: str = ""  # the file that has most of the time in files, of that rank or of all; "": not known
    most_ns: float | None = None  # longest time of a rank, or of an iteration
    mean_ns: float | None = None  # mean of the other ranks; for iterations, the median; of calls, their mean
    beyond_ns: int | None = None  # of slow iterations: their time beyond the median
    # Of idle threads: the team of the rank that idles most; of oversubscription: those busy at the same time.
    threads: int | None = None
    tail_ns: int | None = None  # of a farm: time in which workers had nothing left to do
    queue: int | None = None  # of unexpected messages: how many lay there at once, at most
    trend: str = ""  # "grows": the waits become longer in the course of the run
    first_ns: int | None = None  # Unix time at which the longest iteration began
    detail: str = ""  # further text that depends on the kind
    phase: str = ""  # the detected phase; "" if the run has only one
    sentence: str = ""  # what is said of it; "" only for the kinds that tare knows itself


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What was found, the most severe first, and what it is based on."""

    findings: tuple[Finding, ...]
    ranks: int  # number of ranks
    net_ns: int  # longest net time of a rank
    mpi_share: float | None  # share of MPI in the net time of all ranks
    total_ns: int  # the ranks' time: the longest net time of a rank, for each
    lost_ns: int  # time in which ranks were not outside MPI while the longest rank was there
    unexplained_ns: int  # part of it that is in no finding
    is_traced: bool  # waits, their causes and iterations were looked for
    is_too_short: bool  # the run is too short for findings
    is_too_long: bool = False  # there is a trace, but it was not read
    notes: tuple[str, ...] = ()  # why there may be more findings
