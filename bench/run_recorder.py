"""run_recorder.py RECORDER ARGUMENTS... BUFFER : runs its driver once (bench/recorders/), prints JSON."""

from __future__ import annotations

import json
import sys

import recorders

from tools import BenchError


def main() -> int:
    name, *arguments, buffer = sys.argv[1:]
    # `tare` is another tool in a study: its recorder has no MPI below it.
    wanted = "tare" if name == "recorder" else name
    recorder = next(each for each in recorders.RECORDERS if each.name == wanted)
    try:
        found = recorders.run(recorder, arguments, int(buffer))
    except BenchError as error:
        print(f"{recorder.label}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(vars(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
