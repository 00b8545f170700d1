"""The return of an ejected host against a plain detector, ejection by ejection.

SOURCE: Envoy 1.28 to 1.32, source/common/upstream/outlier_detection_impl.cc: ejectHost (ejectTimeBackoff),
checkHostForUneject and onIntervalTimer (a host is returned at a sweep once min(base x backoff, longest) has passed; a
healthy one loses a backoff at each sweep that is an interval after its return).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts

PARTS = ("outlier_return",)


@dataclass
class Host:
    """One host of a detector; times in seconds."""

    base: int
    longest: int
    interval: int
    backoff: int = 0

    def returns(self, rng: random.Random, ejections: int) -> Iterator[Fraction]:
        """Yields how long each ejection lasts; between two of them the host is healthy for a while."""
        now, calm = Fraction(rng.randint(0, 1000), 100), rng.choice([500, 20_000])
        for _ in range(ejections):
            ejected = now
            if self.backoff * self.base < self.longest + self.base:
                self.backoff += 1
            sweep = self._next(now)
            while min(self.base * self.backoff, self.longest) > sweep - ejected:
                sweep += self.interval
            yield sweep - ejected
            now = self._healthy(sweep, Fraction(rng.randint(1, calm), 100))

    def _next(self, now: Fraction) -> Fraction:
        return (now // self.interval + 1) * self.interval + Fraction(0)

    def _healthy(self, returned: Fraction, calm: Fraction) -> Fraction:
        """Returns when it fails again; the sweeps before have taken backoffs away."""
        fails, sweep = returned + calm, returned + self.interval
        while sweep < fails:
            self.backoff = max(0, self.backoff - 1)
            sweep += self.interval
        return fails


def window(stated: str) -> FiringWindow:
    """Returns the window of the part."""
    text = f"coherence: 1\ntimers: {{back: {{uses: outlier_return, from: eject web, then: return web{stated}}}}}\n"
    fires = firing(read_text(text).timers["back"])
    assert fires is not None
    return fires.window


@trace_counts(200, of=PARTS)
def test_a_host_returns_within_the_window_and_near_both_ends_of_it(traces: int) -> None:
    rng = source(10)
    settings = {
        (30, 300, 10): window(""),
        (5, 60, 1): window(", after: 5 s .. 61 s"),
        (600, 600, 10): window(", after: 600 s .. 610 s"),
    }
    lasted = []
    for _ in range(traces):
        base, longest, interval = rng.choice(list(settings))
        span = settings[base, longest, interval]
        assert span.latest is not None
        for seconds in Host(base, longest, interval).returns(rng, 15):
            assert span.earliest <= seconds <= span.latest, (base, seconds)
            if base == 30:
                lasted.append(seconds)
    assert min(lasted) < 31
    assert max(lasted) > 309
