"""What a wrapper does for the words of the table (functions.toml): roles, C++ types of src/mpi/roles/."""

from collections.abc import Iterator

from standard import Function
from table import Meaning

_OBJECTS = {
    ("begins", "session"): "InitialisesSession<A> initialises{session}",
    ("ends", "world"): "Finalises finalises{}",
    ("ends", "session"): "FinalisesSession<A> finalises{session}",
    ("ends", "program"): "Aborts aborts{}",
    ("frees", "communicator"): "FreesCommunicator<A> frees{comm}",
    ("frees", "window"): "FreesWindow<A> frees{win}",
    ("frees", "file"): "FreesFile<A> closes{fh}",
    ("frees", "datatype"): "FreesDatatype<A> frees{datatype}",
    ("frees", "request"): "FreesRequest<A> forgets{request}",
    ("names", "communicator"): "NamesCommunicator<A> names{comm, comm_name}",
    ("names", "window"): "NamesWindow<A> names{win, win_name}",
    ("makes", "created window"): "MakesWindow<A> makes{comm, win, format::WindowFlavour::create}",
    ("makes", "allocated window"): "MakesWindow<A> makes{comm, win, format::WindowFlavour::allocate}",
    ("makes", "shared window"): "MakesWindow<A> makes{comm, win, format::WindowFlavour::shared}",
    ("makes", "dynamic window"): "MakesWindow<A> makes{comm, win, format::WindowFlavour::dynamic}",
    ("makes", "opened file"): "OpensFile<A> opens{comm, fh, filename}",
}


def roles(of: Meaning) -> list[str]:
    """The roles of a call, as C++ declarations; a look-up has none, as its wrapper counts."""
    return [*_roles_anywhere(of), *_timed_by_sample(of), *_thinned(of)]


def _roles_anywhere(of: Meaning) -> list[str]:
    """Those that it has also where messages are sampled, which need its times."""
    if of.kind == "lookup":
        return []
    return [
        *_with_whom(of),
        *_moved(of),
        *_counted_for_peers(of),
        *_request_started(of),
        *_communicator_made(of),
        *_request_completed(of),
        *_message_received(of),
        *_object(of),
        *_passed(of),
    ]


def roles_where_sampled(of: Meaning) -> list[str]:
    """The roles where messages are sampled."""
    first = []
    if of.frees == "request":
        first = ["SamplesFree<A> sampled{request}"]
    elif of.frees == "communicator":
        first = ["SamplesCommFree<A> sampled{comm}"]
    return [*first, *_roles_anywhere(of), *_sampled(of)]


def is_sampled(of: Meaning) -> bool:
    """Whether messages of the function can be sampled, or it matters to those of others."""
    if of.kind in ("send", "receive", "exchange"):
        return of.function.parameter("partitions") is None
    if of.kind == "probe":
        return of.function.parameter("message") is not None
    return (
        of.kind in ("start", "completion")
        or of.frees in ("request", "communicator")
        or bool(of.cancels)
        or "world" in (of.begins, of.ends)
    )


def is_frequent(of: Meaning) -> bool:
    """Whether programs make such calls in their inner loops, so that a wrapper has all steps itself."""
    is_large_count = of.function.name.endswith("_c")
    return bool(of.frequent) and of.form in ("blocking", of.frequent) and not is_large_count


def is_idle(of: Meaning) -> str | None:
    """The C++ condition that a poll has found nothing; None for functions that do not poll."""
    return f"*{of.poll} == 0" if of.poll else None


def acts_if_idle(of: Meaning) -> bool:
    """Whether a poll that has found nothing has something to do where messages are sampled."""
    return bool(of.poll) and roles_where_sampled(of) != roles(of)


def _count_type(function: Function) -> str:
    return "MPI_Count" if function.name.endswith("_c") else "int"


def _with_whom(of: Meaning) -> Iterator[str]:
    for parameter in of.function.parameters:
        if parameter.is_pointer or of.names == "window":
            continue
        if parameter.kind == "COMMUNICATOR":
            yield f"On<A> on{{{parameter.name}}}"
            break
        if parameter.kind in ("WINDOW", "FILE"):
            yield f"On{parameter.kind.capitalize()}<A> on{{{parameter.name}}}"
            break
    if of.peer or of.root:
        yield f"Peer<A> peer{{{of.peer or of.root}}}"
    for name in ("tag", "sendtag"):
        tag = of.function.parameter(name)
        if tag is not None and tag.kind == "TAG" and not tag.is_pointer:
            yield f"Tag<A> tagged{{{name}}}"
            break
    if of.epoch in ("posts", "starts"):
        yield "OfGroup<A> of_group{group}"
    if of.function.parameter("lock_type") is not None:
        yield "TakesLock<A> takes{lock_type}"


def _moved(of: Meaning) -> Iterator[str]:
    moves = "moves_and_receives" if of.kind == "exchange" and of.form == "blocking" else "moves"
    for text, variable, role in ((of.bytes, "volume", moves), (of.received, "received", "takes")):
        if text:
            rule, *names = text.split()
            rule_applied = f"Amount<A>::{rule}({', '.join(('thread', 'call', *names))})"
            taken = "[=](Thread& thread, recorder::Call& call) noexcept"
            yield f"auto {variable}{{{role}<A>({taken} {{ return {rule_applied}; }})}}"


def _counted_for_peers(of: Meaning) -> Iterator[str]:
    """What counts for the table of peers: of messages, and of one-sided calls."""
    if of.form == "persistent":
        return  # moves nothing yet: every MPI_Start does
    if of.kind in ("send", "exchange") or of.direction == "out":
        yield "Sends sending{}"
    elif of.direction == "in":
        yield "Fetches fetching{}"


def _request_started(of: Meaning) -> Iterator[str]:
    if of.form == "blocking":
        return
    kinds = ["format::receive_request"] if of.kind in ("receive", "exchange") else []
    if of.kind == "exchange":
        kinds.append("format::exchange_request")
    if of.form == "persistent":
        kinds.append("format::persistent_request")
        if of.kind == "send":
            kinds.append("format::send_request")
        if of.function.parameter("partitions") is not None:
            kinds.append("format::partitioned_request")
    yield f"Starts<A, {' | '.join(kinds or ['format::plain_request'])}> starts{{request}}"


def _communicator_made(of: Meaning) -> Iterator[str]:
    if of.makes != "communicator":
        return
    parameters = of.function.parameters
    made = next(p.name for p in parameters if p.kind == "COMMUNICATOR" and p.is_output)
    parent = next((p.name for p in parameters if p.kind == "COMMUNICATOR" and not p.is_pointer), None)
    if parent is None or of.parent == "none":
        parent = "A::comm_null()"
    tags = [p.name for p in parameters if p.name in ("tag", "stringtag")]
    kind = "Makes" if of.form == "blocking" else "Duplicates"
    yield f"{kind}Communicator<A> makes{{{', '.join([made, parent, *tags])}}}"


def _request_completed(of: Meaning) -> Iterator[str]:
    flag = of.poll or "nullptr"
    if of.kind == "start":
        is_one = of.function.parameter("count") is None
        yield f"StartsPersistent<A> starts{{{'1, request' if is_one else 'count, array_of_requests'}}}"
    elif of.completes == "one":
        yield f"CompletesOne<A, samples, {str(not of.poll).lower()}> completes{{request, {flag}, status}}"
    elif of.completes == "all" and of.poll:
        yield f"CompletesAll<A, samples> completes{{count, array_of_requests, {flag}, array_of_statuses}}"
    elif of.completes == "all":
        yield "CompletesAllByWaiting<A, samples> waits{count, array_of_requests, array_of_statuses}"
    elif of.completes == "any":
        yield f"CompletesAny<A, samples> completes{{count, array_of_requests, index, {flag}, status}}"
    elif of.completes == "some":
        yield (
            "CompletesSome<A, samples> completes{incount, array_of_requests, outcount, array_of_indices, "
            f"array_of_statuses, {str(not of.poll).lower()}}}"
        )


def _message_received(of: Meaning) -> Iterator[str]:
    matches = of.function.parameter("message") is not None
    if of.kind == "probe":
        yield f"Probes<A> probes{{{of.poll or 'nullptr'}, status}}"
        if matches:
            yield f"Matches<A> matches{{{of.poll or 'nullptr'}, message}}"
    if of.kind == "receive" and matches:
        yield "ReceivesMatched<A> matched{message}"
    if of.form == "blocking" and of.kind == "receive":
        yield "Receives<A> receives{status}"
    if of.form == "blocking" and of.kind == "exchange":
        yield "AlsoReceives<A> receives{source, recvtag, status}"
    if of.form == "nonblocking" and of.kind == "exchange":
        yield "ReceivesLater<A> receives{source, recvtag}"


def _passed(of: Meaning) -> Iterator[str]:
    """The role of a call that no rank of its communicator leaves before all have come."""
    comm = of.function.parameter("comm")
    if (
        of.kind == "collective"
        and of.form == "blocking"
        and of.waits == "all"
        and not of.makes
        and comm is not None
    ):
        yield "Passes<A> passes{comm}"


def _timed_by_sample(of: Meaning) -> Iterator[str]:
    """The role of a call that starts a message and does not wait."""
    if of.kind in ("send", "receive") and of.form == "nonblocking":
        yield "TimedBySample timed{}"


def _thinned(of: Meaning) -> Iterator[str]:
    """The role of a call that may wait, and is made often."""
    communicates = of.kind in ("send", "receive", "exchange", "collective") and of.form == "blocking"
    if (communicates and not of.makes) or (of.kind == "completion" and not of.poll):
        yield "TimedUnlessThinned timed{}"


def _object(of: Meaning) -> Iterator[str]:
    if of.begins == "world":
        provided = "provided" if of.function.parameter("provided") is not None else ""
        yield f"Initialises<A> initialises{{{provided}}}"
    if of.level:
        yield f"Controls controls{{{of.level}}}"
    for attribute in ("begins", "ends", "frees", "names", "makes"):
        role = _OBJECTS.get((attribute, getattr(of, attribute)))
        if role is not None:
            yield role


def _sampled(of: Meaning) -> Iterator[str]:
    matched = of.function.parameter("message") is not None
    tag = "recvtag" if of.kind == "exchange" else "tag"
    if of.form == "persistent":
        receives = of.kind == "receive"
        template = f"A, {_count_type(of.function)}, {str(receives).lower()}"
        yield f"SamplesInit<{template}> sampled{{on, {of.peer}, tag, count, datatype, request}}"
    elif of.kind in ("receive", "exchange"):
        name = "sampled" if of.kind == "receive" else "sampled_receive"
        if matched and of.form == "blocking":
            yield f"SamplesMatched<A, decltype(receives)> {name}{{matched, receives}}"
        elif matched:
            yield f"SamplesMatchedStart<A> {name}{{matched, request}}"
        elif of.form == "blocking":
            yield f"SamplesReceive<A, decltype(receives)> {name}{{on, source, {tag}, receives}}"
        else:
            yield f"SamplesPosting<A, decltype(starts)> {name}{{on, source, {tag}, request, starts}}"
    if of.kind in ("send", "exchange") and of.form != "persistent":
        yield "HoldsTicket ticket{}"
        sent = f"dest, {'sendtag' if of.kind == 'exchange' else 'tag'}, {', '.join(of.bytes.split()[1:])}"
        yield f"SamplesSend<A, {_count_type(of.function)}> sampled{{on, ticket, {sent}}}"
    if of.kind == "probe":
        flag = of.poll or "nullptr"
        yield f"SamplesMatch<A, decltype(probes)> sampled{{on, source, tag, {flag}, probes, message}}"
    if of.kind == "start":
        is_one = of.function.parameter("count") is None
        yield (
            "SamplesStart<A> sampled{request}"
            if is_one
            else "SamplesStartall<A> sampled{count, array_of_requests}"
        )
    if of.cancels:
        yield "SamplesCancel<A> sampled{request}"
    if of.begins == "world":
        yield "StartsSampling<A> sampled{}"
    if of.ends == "world":
        yield "EndsSampling<A> sampled{}"
