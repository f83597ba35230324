"""What the words beside numbers mean: one definition of each, for the page, --help and docs/words.md."""

from __future__ import annotations

WORDS = {
    "Calls": "All calls that the program made, timed or only counted; sum over ranks.",
    "Timed calls": "Calls that were timed. Look-ups, like MPI_Comm_rank, are only counted.",
    "Time": (
        "Time inside the calls of a row, sum over ranks and threads. Of a phase: time in it, without "
        "phases nested in it."
    ),
    "In calls": (
        "Of a phase: the part of its Time in timed calls of MPI, MPI_Init and MPI_Finalize among them."
    ),
    "Share in calls": "In calls as a share of Time.",
    "Net time": (
        "Time between leaving MPI_Init and entering MPI_Finalize; of several ranks, the longest. "
        "Without them, sessions begin and end it."
    ),
    "Measured": (
        "Net time without the spells in which calls were only counted; of all threads that call MPI."
    ),
    "MPI time": (
        "Time inside MPI, without what begins and ends MPI and its sessions; "
        "sum over the threads that call MPI."
    ),
    "MPI share": (
        "MPI time as a share of the net time of the threads that call MPI; of several ranks, the mean. "
        "Of a phase that was found in the trace: time in MPI as a share of the time of the ranks in it."
    ),
    "Of MPI": "Time as a share of the MPI time of all ranks.",
    "Imbalance": (
        "In collectives, time of the ranks beyond that of the rank with the least, which the others wait "
        "for; a lower bound."
    ),
    "In waits": (
        "Time of the MPI_Wait and MPI_Test calls that completed the requests which these calls started; "
        "it is part of the Time of the completing calls."
    ),
    "Mean": "Mean time of one call; of a write of a buffer, its mean time.",
    "Longest": (
        "Time of the longest call; of phases and iterations, the longest of a rank; of messages, the "
        "longest latency."
    ),
    "Shortest": "Shortest time of a rank in the phase.",
    "Bytes": "Bytes that the calls passed to MPI, and that their receives received (docs/bytes.md).",
    "All calls": "Calls in the whole run, where some were only counted.",
    "All time": "Time of all calls, estimated from those that were measured.",
    "All bytes": "Bytes of all calls, estimated from those that were measured.",
    "±": (
        "Half the width of the 95 % confidence interval of the estimate to the left, as a share of it; of a "
        "latency, as a time."
    ),
    "Messages to": "Messages between two ranks that were sent to the peer.",
    "Bytes to": "Their bytes.",
    "Messages from": "Messages between two ranks that were received from the peer.",
    "Bytes from": "Their bytes.",
    "Partners": "Number of ranks that exchanged messages with the peer.",
    "Ranks": "Number of ranks that made the calls, waited, were in the phase, or have the communicator.",
    "Entered": "How often the phase began.",
    "Waits": (
        "Number of wait states: times in a call because another rank had not come yet (docs/analyses.md)."
    ),
    "Waited": "Time of the wait states, sum over ranks.",
    "Of ranks' time": (
        "A time as a share of the ranks' time: the longest net time of a rank, for each rank."
    ),
    "Ranks' time": (
        "The longest net time of a rank, for each rank; with several threads of a rank that call MPI, for "
        "each of these, from its first call to its last. Without MPI, the net time of all processes."
    ),
    "Lose": (
        "Ranks lose their time in MPI, and by how much their net time is shorter than the longest; each "
        "second belongs to one sentence at most."
    ),
    "Not explained": "What is lost, but in no sentence.",
    "Descheduled": "Time in which a rank could have run, but others had the processors.",
    "Blocked": "Time known to be outside MPI in which a rank slept, waited in the kernel, or was stopped.",
    "Computing": "Net time outside MPI; of several ranks, the mean.",
    "Wall time": "Time from the start of the command to its end.",
    "Cause": "The rank that caused most of the waiting in the end, on whatever ranks it was passed on.",
    "By it": "The part of the waiting that this rank caused.",
    "Records": (
        "What the trace has in the files: calls, completions of requests, and events of the program."
    ),
    "Dropped": "Records for which there was no room.",
    "Flushes": "Writes of the event buffer by the thread itself.",
    "Flushing": "Time of these writes.",
    "On disk": "Size of the records in the files.",
    "Written": "Bytes that the thread has written to disk.",
    "B/record": "Size on disk divided by the number of records.",
    "Drains": "Writes of the event buffer by tared, beside the thread.",
    "Cost": (
        "Cost of measuring: time in the code of tare as a share of the net time; with other sources of "
        "events than MPI, of recorded time: that of the threads that recorded events, and processor time of "
        "those beside the first that do not call MPI."
    ),
    "Begins": "Time from the start of the run until it begins.",
    "Takes": "Time from its start to its end.",
    "Iterations": (
        "Number of iterations of the outermost loop that begins with one line (docs/analyses.md)."
    ),
    "Median": "Median time of an iteration.",
    "Of phase": "Share of the time in the phase that is in the calls of the line, and before them.",
    "By": "How much longer it took there than usual.",
    "Slowest rank": "The rank with the most time in these calls, or in the phase.",
    "Its time": "Time of this rank in these calls, or in the phase.",
    "Parallel efficiency": (
        "Mean useful time of a rank divided by the net time: load balance times communication "
        "efficiency. Useful time is the net time outside MPI."
    ),
    "Load balance": "Mean useful time of a rank divided by the largest.",
    "Communication efficiency": "Largest useful time of a rank divided by the net time.",
    "Serialisation efficiency": (
        "Largest useful time of a rank divided by the run time on an ideal network."
    ),
    "Size": "Bytes of each message.",
    "Sampled": "Number of sampled messages.",
    "Messages": "Estimated number of all messages of which these were sampled.",
    "95 %": "The confidence interval of the number of messages.",
    "Unexpected": "Share of the sampled messages that were sent before their receive was posted.",
    "Latency": (
        "Estimated mean time from the start of the send until the message has been received "
        "(docs/samples.md)."
    ),
    "Late sender": "Mean part of the wait before the message was sent: it is no part of the latency.",
    "Not posted": "Mean part of the latency before the receive was posted.",
    "Not waited for": "Mean part of the latency in which the receiver did something else.",
    "Late receiver": "Not posted and Not waited for together, of sampled messages.",
    "Transfer": "Mean part of the latency that is none of the others.",
    "Other run": "Time in these calls in the run that this one is compared with, sum over ranks.",
    "This run": "Time in these calls in this run, sum over ranks.",
    "Base": "The mean over the runs before `vs`; of two runs, that of the first.",
    "New": "The mean over the runs after `vs`; of two runs, that of the second.",
    "Change": (
        "Time in this run less that in the other one; of `tare diff`, the new mean less that of the base, as "
        "a share of the latter."
    ),
    "Real": "Whether the change is larger than the noise (docs/diff.md); ? is not known.",
    "95 % interval": "The confidence interval of the change.",
    "p": "How probable so large a change is by noise alone.",
    "Calls, other": "Calls in the run that this one is compared with.",
    "Transfer efficiency": "Run time on an ideal network divided by the run time.",
    "Threads": "Number of threads that were in the teams of the parallel region.",
    "Mean work": "Mean time of these threads in the program's code, in the region.",
    "Most work": "The same of the thread with the most.",
    "Work": "Time of the thread in the program's code, in the region.",
    "Idle": (
        "Share of the time of the teams in which threads waited for others, or had not come to the region."
    ),
}

# What the tables of a verb show.
OF_VERB = {
    "info": (
        "Calls", "Net time", "MPI time", "MPI share", "Records", "Dropped", "Flushes", "Flushing",
        "On disk", "B/record",
    ),
    "profile": (
        "MPI share", "Parallel efficiency", "Load balance", "Communication efficiency",
        "Serialisation efficiency", "Transfer efficiency", "Calls", "Timed calls", "Time", "MPI time",
        "Of MPI", "Bytes", "Imbalance", "Mean", "Longest", "In waits", "All calls", "All time",
        "All bytes", "±", "Messages to", "Messages from", "Partners", "Entered", "In calls",
        "Share in calls", "Threads", "Mean work", "Most work", "Work", "Idle",
    ),
    "phases": (
        "Begins", "Takes", "MPI share", "Iterations", "Median", "Of phase",
    ),
    "explain": ("Ranks' time", "Lose", "Not explained", "Descheduled", "Blocked", "Computing"),
    "diff": (
        "Wall time", "Net time", "MPI time", "Computing", "Descheduled", "Blocked", "Base", "New", "Change",
        "Real", "95 % interval", "p",
    ),
    "samples": (
        "Latency", "±", "Messages", "95 %", "Unexpected", "Late receiver", "Transfer", "Late sender",
        "Longest", "Sampled",
    ),
}  # fmt: skip
