"""What is undecided about an oscillation names the cycle that is predicted."""

from __future__ import annotations

from coherence.loops.checks import _oscillation
from coherence.loops.designs.predicted_cycles import CycleReading


def test_a_predicted_cycle_that_no_run_has_confirmed_is_named_with_its_period_and_range() -> None:
    ranges = (("a.v", 0.25, 0.75), ("b.v", 3.0, 3.0))
    cycle = CycleReading("a.v, b.v", "cycle", 88.97, ranges, reason="not executed: the time limit was reached")
    words = "an oscillation of a.v is predicted (a.v between 0.25 and 0.75, every 88.97 s), and no run has confirmed it"
    assert _oscillation._predicted("a.v", cycle) == words
