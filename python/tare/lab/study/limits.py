"""What the numbers of a study may be: more is a slip of the pen, which would take for ever or all memory."""

from __future__ import annotations

MOST_BLOCKS = 100_000
MOST_COMBINATIONS = 100_000  # of the levels of all factors
MOST_RUNS = 2_000_000
MOST_RANKS = 10_000_000
MOST_NODES = 10_000_000
MOST_MESSAGE_BYTES = 10**15
LONGEST_H = 500  # of a time limit, or a pause: the kernel waits for 596 hours at most
LONGEST_IN_ALL_H = 10**9  # of what may be the sum over all ranks
