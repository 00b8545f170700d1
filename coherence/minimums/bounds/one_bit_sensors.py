"""decentralised detection: how many sensors are needed that each tell one bit of what they read.

## What
Sensors read independent normal numbers, with a shift of d standard deviations where there is a change.  Each sends one
of two messages.  Whatever the rules of sensors and of whoever decides, n is at least d(1 - miss || false_alarm)/K: d is
the divergence of two coins, K the largest divergence that one bit of a reading has, over all thresholds.  It holds for
the mean number where there is a change as well, and where sensors hear each other's bits; where there is none a rule
that stops early may need fewer.

## Why it matters
One bit of each (a health check, a vote, an alarm) asks for about pi/2 times as many sensors as whole readings would
where shifts are small.

## Example
A shift of one standard deviation, one false alarm in a million, one miss in ten: 38 sensors.

## Source
J. Tsitsiklis, "Decentralized detection by a large number of sensors", Math. Control Signals Systems 1(2), 1988, and
IEEE Trans. Commun. 41(4), 1993 (thresholds of the likelihood ratio are the best); A. Wald 1945.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.base.bisection import halved, whole_mean
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.detection import binary_divergence

LEAST = 1e-300  # probability of an error
STEPS, BEYOND = 400, 9.0  # of thresholds, that many standard deviations beyond both laws


def above(threshold: float) -> float:
    """Returns the chance that a standard normal number lies above it."""
    return math.erfc(threshold / math.sqrt(2)) / 2


def bit_divergence(shift: float, threshold: float) -> float:
    """Returns the divergence of one bit, nats: whether a reading lies above the threshold."""
    change, none = above(threshold - shift), above(threshold)
    return binary_divergence(change, none) if 0 < none < 1 else 0.0


def best_threshold(shift: float) -> float:
    """Returns the threshold whose bit tells most, between the neighbours of the best one of a grid."""
    step = (shift + 2 * BEYOND) / STEPS
    at = max((step * k - BEYOND for k in range(STEPS + 1)), key=lambda threshold: bit_divergence(shift, threshold))
    low, high = at - step, at + step
    for _ in range(60):
        third = (high - low) / 3
        low, high = (
            (low + third, high)
            if bit_divergence(shift, low + third) < bit_divergence(shift, high - third)
            else (low, high - third)
        )
    return (low + high) / 2


def sensors(inputs: Inputs) -> float:
    """Returns the least number, or mean number, of bits."""
    wanted = binary_divergence(1 - float(inputs["miss"]), float(inputs["false_alarm"]))
    shift = float(inputs["shift"])
    return wanted / (bit_divergence(shift, best_threshold(shift)) * (1 + 1e-9))


def votes_needed(inputs: Inputs) -> float:
    """Returns how many sensors with one threshold, whose bits are counted, meet both errors."""
    shift = float(inputs["shift"])
    threshold = best_threshold(shift)
    return counted(above(threshold), above(threshold - shift), float(inputs["false_alarm"]), float(inputs["miss"]))


def counted(none: float, change: float, false_alarm: float, miss: float) -> int:
    """Returns a number of sensors of which some count is too rare without a change and common enough with one: it is
    enough, and half of what doubling found first was not.
    """
    from scipy.stats import binom

    def enough(count: int) -> bool:
        # more than so many: as rare as a false alarm may be (the inverse of scipy knows no chance below 1e-16)
        needed = halved(lambda most: bool(binom.sf(most, count, none) <= false_alarm), count, -1, middle=whole_mean)[0]
        return bool(binom.cdf(needed, count, change) <= miss)

    most = 1
    while not enough(most):
        most *= 2
    return halved(enough, most, most // 2, middle=whole_mean)[0]


def every_rule() -> Checked:
    """All rules of up to three sensors with thresholds of a grid, each with every way to decide, need no fewer bits."""
    tried = 0
    for shift in (1.0, 3.0):
        most = bit_divergence(shift, best_threshold(shift)) * (1 + 1e-9)
        for thresholds in itertools.combinations_with_replacement([shift * k / 4 for k in range(-1, 6)], 3):
            pairs = [(above(t), above(t - shift)) for t in thresholds]
            outcomes = list(itertools.product((0, 1), repeat=3))
            laws = [[math.prod(p[k] if bit else 1 - p[k] for p, bit in zip(pairs, bits, strict=True))
                     for bits in outcomes] for k in (0, 1)]  # fmt: skip
            for says in range(1, 255):
                tried += 1
                false, hit = (sum(law[i] for i in range(8) if says >> i & 1) for law in laws)
                if 0 < false < hit < 1 and binary_divergence(hit, false) / most > 3 + 1e-9:
                    return Checked(False, f"shift {shift}, thresholds {thresholds}, rule {says}")
    return Checked(True, f"{tried} rules of three sensors")


WHOLE = 0.9 * math.log(0.9 * 10**6) + 0.1 * math.log(0.1 / (1 - 10**-6))  # d(0.9 || 0.000001)
BOUND = Bound(
    name="one_bit_sensors",
    group="detection",
    quantity="sensors that each send one bit",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("shift", "1", "standard deviations by which a change moves a reading", Trend.FALLS, least=1e-3, most=12),
        Symbol("false_alarm", "1", "probability to see a change that is not there", Trend.FALLS, least=LEAST, most=0.5),
        Symbol("miss", "1", "probability to overlook a change", Trend.FALLS, least=LEAST, most=0.5),
    ),
    compute=sensors,
    valid="false_alarm + miss <= 1",
    assumptions=("gaussian_readings", "known_laws", "one_bit"),
    source="Tsitsiklis 1988; Tsitsiklis 1993; Wald 1945",
    examples=(
        Example(
            {"shift": 1, "false_alarm": Fraction(1, 10**6), "miss": Fraction(1, 10)},
            WHOLE / 0.31856627366772466,
            "the best threshold by scipy",
            1e-6,
        ),
        Example(
            {"shift": Fraction(1, 2), "false_alarm": Fraction(1, 10**6), "miss": Fraction(1, 10)},
            WHOLE / 0.07959192278560162,
            "the best threshold by scipy",
            1e-6,
        ),
    ),
    proofs=(Recheck("enumeration", "every rule of three sensors, thresholds of a grid", every_rule),),
    witness=Witness("sensors with one threshold, whose bits are counted", votes_needed, 2.0),
    telemetry=("law of readings before and after a change",),
    display=(
        r"\frac{d\left( 1 - \mathrm{miss} \, \| \, \mathrm{false\_alarm} \right)}{\max_t d\left( "
        r"\Phi(\mathrm{shift} - t) \, \| \, \Phi(-t) \right)}, \quad d(p \| q) = p \ln \frac{p}{q} + (1 - "
        r"p) \ln \frac{1 - p}{1 - q}"
    ),
    unread="no key states the law of what sensors read",
)
