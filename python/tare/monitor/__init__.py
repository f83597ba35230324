"""Online monitoring: a run as it goes on; trees of tared, and what they can sustain."""
