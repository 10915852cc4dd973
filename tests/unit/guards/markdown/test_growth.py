"""No text makes the scanner slow: guards.md 6, 60 and 64. Processor time is measured, so that other work does not count."""

from __future__ import annotations

import time

import pytest

from service.guards.markdown import document, readings
from tests.support.markdown_hostile import hostile

KB = 1024
MB = 1024 * KB
LIMIT_S = 1.5
"""For 64 KB: about five times what the slowest takes. One that does work for each pair of characters takes longer."""
MAX_GROWTH = 4 * 1.6
"""Four times the text may take a little more than four times as long: the more objects, the more the collector does."""
NOISE_S = 0.15


def processor_time(text: str) -> float:
    """What all readings of `text` take, in seconds; the better of two."""
    times = []
    for _ in range(2):
        begun = time.process_time()
        for reading in readings(text):
            document(reading)
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize("name", hostile())
def test_a_hostile_text_of_64_kb_is_read_at_once(name: str) -> None:
    """guards.md 6, 60."""
    assert processor_time(hostile()[name](64 * KB)) < LIMIT_S


@pytest.mark.long
@pytest.mark.parametrize("name", hostile())
def test_time_grows_with_the_length_of_a_hostile_text(name: str) -> None:
    """guards.md 6, 60: 256 KB against 1 MB."""
    short, long = (processor_time(hostile()[name](size)) for size in (MB // 4, MB))
    assert long < NOISE_S + short * MAX_GROWTH


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["'a'", "'['", "'<'", "'`'", "'> '", "'- '", "'# a\\n'", "'\\n'", "'[a]('"])
def test_ten_megabytes_take_about_ten_times_as_long_as_one(name: str) -> None:
    """guards.md 6, 64: one line of 10 MB, over a million headings."""
    short, long = (processor_time(hostile()[name](size)) for size in (MB, 10 * MB))
    assert long < NOISE_S + short * 16
