"""Uses a processor for 100 ms in `first` and for 300 ms in `second`, through `spend`."""

import time


def spend(ms: float) -> None:
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        for _ in range(1000):
            pass


def first() -> None:
    spend(100)


def second() -> None:
    spend(300)


first()
second()
