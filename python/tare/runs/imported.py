"""Run directories made of what other tools have recorded."""

from __future__ import annotations

import json
import os
import secrets
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from tare import _native
from tare.errors import CommandError, native_errors
from tare.runs import directory, otf2
from tare.runs.metadata import Metadata, Options

if TYPE_CHECKING:
    from tare._native import ImportedEvents
    from tare._otf2 import Imported

# The file of the run.
FILE = "imported.tare"
LATEST_NS = 1 << 62  # Unix time, as src/importers/run_file.h has it


def anchor_of(trace: Path) -> Path:
    """The anchor file of an OTF2 archive, from itself or its directory."""
    if not trace.exists():
        raise CommandError(f"{trace}: no such trace")
    if not trace.is_dir():
        return trace
    anchors = sorted(trace.glob("*.otf2"))
    if len(anchors) != 1:
        what = "has no *.otf2" if not anchors else f"has {len(anchors)} files *.otf2; name one of them"
        raise CommandError(f"{trace} {what}")
    return anchors[0]


def is_litl(trace: Path) -> bool:
    """Whether it is a trace of LiTL."""
    return trace.is_file() and _native.is_litl(str(trace))


def import_litl(trace: Path, to: Path) -> ImportedEvents:
    """Makes the run directory `to`; CommandError if the trace cannot be read."""
    run_dir = directory.create(trace.stem, to)
    with native_errors():
        done = _native.import_litl(str(trace), str(run_dir / FILE), _written_ns(trace))
    _describe(run_dir, trace, done)
    return done


def import_otf2(anchor: Path, to: Path) -> Imported:
    """Makes the run directory `to`; CommandError if the archive cannot be read."""
    module = otf2.module()
    written_ns = _written_ns(anchor)
    run_dir = directory.create(anchor.stem, to)

    def read() -> Any:
        with native_errors():
            found = module.import_otf2(str(anchor), str(run_dir / FILE), written_ns)
        return {name: getattr(found, name) for name in found.__match_args__}

    done: Imported = cast("Imported", SimpleNamespace(**_in_child_process(anchor, read)))
    _describe(run_dir, anchor, done)
    return done


def _written_ns(trace: Path) -> int:
    """The Unix time at which it was written; 0 if that is before 1970, or in the far future."""
    found = trace.stat().st_mtime_ns
    return found if 0 <= found < LATEST_NS else 0


def _describe(run_dir: Path, trace: Path, done: Imported | ImportedEvents) -> None:
    meta = Metadata(
        format=_native.FORMAT_VERSION,
        tare=None,  # which did not run it
        run_id=secrets.token_hex(8),
        name=trace.stem,
        command=[str(trace)],
        cwd=str(Path.cwd()),
        host=done.host,
        start_ns=done.start_ns,
        options=Options(trace=True),
        segment_dir="",
        state="ended",
        wall_ns=done.wall_ns,
        imported=str(trace),
    )
    directory.write_meta(run_dir, meta)


def _in_child_process(anchor: Path, work: Any) -> Any:
    """What the work returns, done in a child process: libotf2 ends its process on some damaged files."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = {"done": work()}
        except CommandError as error:
            answer = {"error": str(error)}
        except BaseException as error:
            answer = {"error": f"{anchor} cannot be imported: {error}"}
        with os.fdopen(writer, "w") as out:
            json.dump(answer, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as source:
        text = source.read()
    try:
        status = os.waitpid(child, 0)[1]
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)
        raise
    if os.WIFSIGNALED(status) or not text:
        raise CommandError(f"{anchor} cannot be imported: it is damaged; libotf2 ended on reading it")
    answer = json.loads(text)
    if "error" in answer:
        raise CommandError(answer["error"])
    return answer["done"]
