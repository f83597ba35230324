"""Runs a verb of tare as another user: group_reader.py UID GID VERB ARGUMENT...

The interpreter may lie where only this user may read. So the verb is run once as this user, without its
output, after which all modules are loaded; then as the other one.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

from tare.__main__ import exit_code_of


def main() -> int:
    """The exit code as the other user."""
    user, group, *verb = sys.argv[1:]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exit_code_of(verb)
    os.setgroups([])
    os.setresgid(int(group), int(group), int(group))
    os.setresuid(int(user), int(user), int(user))
    return exit_code_of(verb)


if __name__ == "__main__":
    sys.exit(main())
