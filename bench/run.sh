#!/bin/sh
# bench/run.sh [--quick] [--only NAME] ... : what measuring costs; see --help and docs/bench.md.
exec "$(dirname "$0")/../.venv/bin/python" "$(dirname "$0")/run.py" "$@"
