"""`tare recover --launch`: what is started on other nodes, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tare.errors import CommandError
from tare.measuring import elsewhere


def launcher(to: Path) -> str:
    """A command that only notes its words."""
    to.write_text('#!/bin/sh\necho "$@" >> "$0.words"\n')
    to.chmod(0o755)
    return str(to)


def test_a_command_is_started_for_each_node(tmp_path: Path) -> None:
    rsh = launcher(tmp_path / "rsh")
    assert elsewhere.recover(tmp_path, [rsh, "{host}"], ["node1", "node-2.site"], []) == []
    lines = Path(f"{rsh}.words").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["node1", "node-2.site"]
    assert all("recover --part" in line for line in lines)


@pytest.mark.parametrize(("end", "how"), [("kill -SEGV $$", "killed by SIGSEGV"), ("exit 3", "exit code 3")])
def test_a_command_that_fails_is_told_with_its_end(end: str, how: str, tmp_path: Path) -> None:
    rsh = tmp_path / "rsh"
    rsh.write_text(f"#!/bin/sh\n{end}\n")
    rsh.chmod(0o755)
    (told,) = elsewhere.recover(tmp_path, [str(rsh), "{host}"], ["node1"], [])
    assert told.endswith(f"failed ({how})")


@pytest.mark.parametrize("host", ["-oProxyCommand=touch x", "a;b", "a b", "$(x)", "", "a\n"])
@pytest.mark.parametrize("word", ["{host}", "{hosts}"])
def test_a_run_cannot_choose_words_of_the_command(host: str, word: str, tmp_path: Path) -> None:
    rsh = launcher(tmp_path / "rsh")
    with pytest.raises(CommandError, match="no name of a node"):
        elsewhere.recover(tmp_path, [rsh, word], ["node1", host], [])
    assert not Path(f"{rsh}.words").exists(), "not for the other node either"
