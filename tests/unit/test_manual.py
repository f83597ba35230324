"""Manual pages and shell completion, which tools/manual.py writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tare
from environments import ROOT


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("share")
    subprocess.run(
        [sys.executable, ROOT / "tools" / "manual.py", folder, Path(tare.__file__).parent],
        check=True,
        timeout=60,
    )
    return folder


def test_descriptions_do_not_repeat_the_summary(share: Path) -> None:
    """The description has nothing of a summary of two lines either."""
    pages = sorted((share / "man" / "man1").iterdir())
    assert len(pages) > 20
    for page in pages:
        lines = page.read_text().splitlines()
        summary = lines[lines.index(".SH NAME") + 1]
        first = lines[lines.index(".SH DESCRIPTION") + 1]
        assert not summary.endswith(first.rstrip(".")), page.name


def test_words_are_not_broken_into_lines(share: Path) -> None:
    lines = (share / "man" / "man1" / "tare-profile.1").read_text().splitlines()
    words = lines[lines.index("Words:") + 1 :]
    assert len(words) > 20 and not any(line.startswith("   ") for line in words)


@pytest.mark.parametrize("shell", ["fish/vendor_completions.d/tare.fish", "zsh/site-functions/_tare"])
def test_completion_has_whole_summaries(share: Path, shell: str) -> None:
    assert "change its rounds, or send its ranks a message." in (share / shell).read_text()
