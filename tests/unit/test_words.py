"""Each word beside a number has one definition, which the page, the help and docs/words.md share."""

from __future__ import annotations

from environments import ROOT
from tare.reporters import locations, structure, tables
from tare.reporters import profile as profile_sheets
from tare.words import OF_VERB, WORDS

PAGE = ROOT / "docs" / "words.md"


def test_the_page_has_the_definitions() -> None:
    """They are written there by hand, in the same order."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert rows[1:] == [[word, meaning] for word, meaning in WORDS.items()]


def test_verbs_name_words_that_are_defined() -> None:
    assert {word for words in OF_VERB.values() for word in words} <= set(WORDS)


def test_headings_of_numbers_are_defined() -> None:
    headings = [
        *profile_sheets.figures(1), profile_sheets.IN_WAITS, *profile_sheets.OF_WHOLE_RUN,
        *profile_sheets.OF_A_RANK, *tables.PEER_FIGURES, tables.PARTNERS, *tables.PHASE_FIGURES,
        *tables.OVER_RANKS, *tables.REGION_FIGURES, *tables.OVER_THREADS, tables.WORK_OF_THREAD, tables.IDLE,
        *structure.HEADINGS,
    ]  # fmt: skip
    numbers = {each.title for each in headings if not each.text} | {title for title, *_ in locations.FIGURES}
    assert numbers <= set(WORDS), numbers - set(WORDS)
