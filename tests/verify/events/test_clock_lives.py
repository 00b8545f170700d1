"""Clocks that count from the start of a thing which another timer ends, beside runs of their ticks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.periods import periods


def ticks(random_: random.Random, first: int, every: int, lives: tuple[int, int], away: int) -> Iterator[float]:
    """Yields when a clock ticks whose first look comes within a period, over lives that end while it counts."""
    now = 0.0
    for _ in range(60):
        end = now + random_.choice([lives[0], lives[1], random_.uniform(*lives)])
        look = now + first + random_.choice([0, every / 2, every * 0.999])
        while look < end:
            yield look
            look += every
        now = end + away


@pytest.mark.parametrize("seed", range(80))
def test_no_run_ticks_sooner_than_is_said(seed: int) -> None:
    random_ = random.Random(seed)  # noqa: S311
    first, every = random_.choice([0, 5, 40]), random_.choice([10, 30, 60])
    shortest = random_.choice([20, 45, 65, 90, 200])
    lives, restarts = (shortest, shortest + random_.choice([0, 0, 25])), random_.random() < 0.5
    away = 0 if restarts else random_.choice([0, 15])
    ends = f"{lives[0]} s" if lives[0] == lives[1] else f"{lives[0]} s .. {lives[1]} s"
    design = read_text(f"""coherence: 1
components: {{x: {{returns: {f"after {away} s" if away else "always"}}}, report: {{takes: {{run: 30 s}}}}}}
timers:
  kill: {{from: x starts, after: {ends}, then: {"restart" if restarts else "evict"} x}}
  look: {{from: x starts, first: {first} s, every: {every} s, then: report.run starts}}
""")
    windows = list(periods(design, design.timers["look"], starts="report"))
    for _ in range(20):
        ticked = list(ticks(random_, first, every, lives, away))
        gaps = [later - earlier for earlier, later in itertools.pairwise(ticked)]
        assert not gaps or min(gaps) >= min(window.earliest for window in windows) - 1e-9
        for latest in (window.latest for window in windows if window.latest is not None):
            assert min(gaps) <= latest, "two in each life come so soon"
    (alone,) = periods(design, design.timers["look"])
    assert alone.earliest == alone.latest == every
