"""Models of time: phases of samplers, offsets that delays hide, silence after a crash, a step just after a decision."""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

PARTS = 4  # of a time that is chosen


def phases(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A loop reads one sampler: its phase is drawn, or the worst, unless somebody may choose it."""
    longest = bound == "reading_age_longest"
    period, chain = Fraction(inputs["period"]), Fraction(inputs["chain"])
    sample = chain if longest else 2 * chain  # of a sampler the mean counts half
    if "uniform_samples" in dropped and choose((False, True)):
        return period if longest else period / 2  # a reading is taken as it is wanted
    shifts = [Fraction(2 * k + 1, 2) for k in range(int(sample))]
    if "free_phases" in dropped:
        shifts = [choose(shifts)]
    cycle = math.lcm(int(sample), int(period)) // int(period)
    ages = [_age(shift + k * period, sample, longest=longest) for shift in shifts for k in range(cycle)]
    return max(ages) + period if longest else sum(ages, Fraction(0)) / len(ages) + period / 2


def _age(at: Fraction, sample: Fraction, *, longest: bool) -> Fraction:
    """Returns the time since the last sample; of the longest one the end of the half step that a draw stands for."""
    return at % sample + (Fraction(1, 2) if longest else 0)


def offsets(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Two clocks exchange a message each way and see the same delay twice: the offset may be anything in between."""
    assert bound
    hidden = Fraction(inputs["uncertainty"]) / 2
    if dropped & {"unicast", "messages_only", "unrelated_delays"}:
        hidden = Fraction(0)  # a common delay cancels, as of ways there and back; a common source tells
    correction = choose([hidden * k / PARTS for k in range(-PARTS, PARTS + 1)])
    return max(abs(offset - correction) for offset in (-hidden, Fraction(0), hidden))


def silence(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A detector gives a process up some time after its last sign of life; the process stops just after one."""
    assert bound
    period, delay, takeover = (Fraction(inputs[name]) for name in ("period", "delay", "takeover"))
    if "silent_crash" in dropped and choose((False, True)):
        return delay + takeover  # a reset connection tells
    waited = choose([(period + delay) * k / PARTS for k in range(2 * PARTS + 1)])
    if waited < period + delay and "no_false_suspicion" not in dropped:
        raise HopelessError  # a running process whose next sign is late is suspected
    return waited + takeover


def disturbed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A step strikes at the worst time between two decisions; any decision after it may cancel it."""
    assert bound
    period, dead = Fraction(inputs["period"]), Fraction(inputs["dead"])
    if "no_preview" in dropped and choose((False, True)):
        return Fraction(0)
    if "uniform_samples" in dropped and choose((False, True)):
        return dead  # a decision as it strikes
    late = choose(range(3))  # decisions that pass before the one that cancels
    strikes = [period * k / PARTS for k in range(PARTS)]  # the decision at the same instant does not see it
    return max((late + 1) * period - struck + dead for struck in strikes)


def _times(*pairs: tuple[str, int]) -> Inputs:
    return {name: Fraction(value) for name, value in pairs}


CHAINS = tuple(_times(("chain", chain), ("period", period)) for chain, period in ((6, 12), (6, 5), (4, 24), (3, 1)))
ADVERSARIES = (
    Adversary(
        "phases of a sampler",
        {"reading_age_mean": CHAINS, "reading_age_longest": CHAINS},
        phases,
        ("uniform_samples", "free_phases"),
    ),
    Adversary(
        "offsets that delays hide",
        {"clock_synchronisation": (_times(("uncertainty", 1), ("n", 2)),)},
        offsets,
        ("unicast", "messages_only", "unrelated_delays"),
    ),
    Adversary(
        "silence after a crash",
        {"failover_time": (_times(("period", 10), ("delay", 1), ("takeover", 5)),)},
        silence,
        ("silent_crash", "no_false_suspicion"),
    ),
    Adversary(
        "a step just after a decision",
        {"recovery_time": (_times(("period", 15), ("dead", 60)),)},
        disturbed,
        ("uniform_samples", "no_preview"),
    ),
)
