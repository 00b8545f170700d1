"""Models of what readings tell: tosses, alarms, samples of a channel, coordinates, bits of sensors and of states."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, cast

from coherence.base.bisection import halved
from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs, several
from coherence.minimums.bounds.one_bit_sensors import above, best_threshold, counted
from coherence.minimums.bounds.optimisation_messages import error_left, reached
from coherence.minimums.bounds.sampled_at_will_age import mean_age, threshold
from coherence.minimums.bounds.separate_controllers_cost import levels, linear
from coherence.minimums.detection import ratio_of
from coherence.minimums.floors import Number

DEEPEST = 3  # tosses at most
CELLS = 60  # of the sum that an alarm looks at
NONE, CHANGE, MORE = 0, 1, 2
ROUNDED = 1 + 1e-9
QUANTISED = {1: 0.36338, 2: 0.11748, 3: 0.03454}  # bits -> mean square that the best levels leave of a normal number
# SOURCE: J. Max, "Quantizing for minimum distortion", IRE Trans. Inf. Theory 6(1), 1960, table I.


def tossed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """After each toss a rule says that there is a change, or none, or looks again."""
    assert bound
    assert not dropped
    odds = ratio_of(float(inputs["information"]))
    heads = odds / (1 + odds)  # with a change; without one the same of tails

    def rule(depth: int, with_change: float, without: float) -> tuple[float, float, float]:
        """Returns (mean tosses with a change, wrong alarms, misses) of what begins here."""
        verdict = choose((NONE, CHANGE, MORE) if depth < DEEPEST else (NONE, CHANGE))
        if verdict != MORE:
            return 0.0, without if verdict == CHANGE else 0.0, with_change if verdict == NONE else 0.0
        up = rule(depth + 1, with_change * heads, without * (1 - heads))
        down = rule(depth + 1, with_change * (1 - heads), without * heads)
        return with_change + up[0] + down[0], up[1] + down[1], up[2] + down[2]

    tosses, wrong, missed = rule(0, 1.0, 1.0)
    if wrong > float(inputs["false_alarm"]) * (1 + 1e-9) or missed > float(inputs["miss"]) * (1 + 1e-9):
        raise HopelessError
    return tosses


def alarmed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """An alarm looks at single readings, or at a sum that is held at 0, of what each one says for a change.

    Its height gives the false alarms that are allowed; its delay is that of a change at its worst moment.
    """
    assert bound
    assert not dropped
    information, quiet = float(inputs["information"]), float(inputs["false_alarms"])
    single, reference = choose((True, False)), choose((0.5, 0.8, 1.0, 1.25))
    shift = math.sqrt(2 * information)

    def mean_time(height: float, drift: float) -> float:
        if single:
            return 2 / math.erfc((height - drift) / math.sqrt(2))
        return _held(height, drift - shift * reference / 2)

    height = halved(lambda h: mean_time(h, 0.0) >= quiet, 30.0, 0.0, steps=24)[0]
    return mean_time(height, shift) * (1 + 1e-2)


def _held(height: float, drift: float) -> float:
    """Returns the mean number of normal steps until a sum that is held at 0 passes the height, cell by cell."""
    import numpy as np
    from scipy.special import ndtr

    width = height / (CELLS - 0.5)
    middles = np.arange(CELLS) * width
    upper = ndtr((middles[None, :] + width / 2 - middles[:, None]) - drift)
    moves = np.diff(upper, axis=1, prepend=0.0)
    return float(np.linalg.solve(np.eye(CELLS) - moves, np.ones(CELLS))[0])


def _worth(odds: float) -> float:
    """Returns the divergence of a coin of these odds from the one of the opposite odds, in nats."""
    return (odds - 1) / (odds + 1) * math.log(odds)


def sampled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A wait of its own follows each time of transmission; the age is added up over all pairs of times."""
    assert bound
    times = several(inputs, "times")
    if "one_at_a_time" in dropped:
        return float(sum(times)) / len(times)  # so many channels that each sample is on its way at once
    if "sent_whole" in dropped and len(times) > 1:  # what takes longer than the least time is taken back
        least, tries = min(times), Fraction(len(times), times.count(min(times)))
        return float(least + (2 * tries - 1) * least / 2) if least else 0.0
    if "no_forecast" in dropped:  # the next time is known: a wait may depend on it
        return _known_ahead(choose, times)
    if "iid" in dropped:  # all transmissions take the least time for a long while, then the others
        return float(min(times) * Fraction(3, 2))
    best = threshold(times)
    waits = {time: choose([max(times) * k / 8 for k in range(9)] + [max(best - float(time), 0.0)])
             for time in dict.fromkeys(times)}  # fmt: skip
    return float(mean_age(times, waits.__getitem__)) * ROUNDED


def _known_ahead(choose: Chooser, times: tuple[Any, ...]) -> float:
    area = length = Fraction(0)
    for last, after in itertools.product(times, repeat=2):
        spent = max(times) * choose(range(5)) / 4 + after
        area, length = area + spent * last + spent * spent / 2, length + spent
    return float(area / length) if length else math.inf


def optimised(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Either machine sends all that it knows, in any order; the best point of the known coordinates is taken."""
    assert bound
    condition, error = float(inputs["condition"]), float(inputs["error"])
    if "gradient_span" in dropped:
        return 0.5  # the function itself is sent
    known, sent = [reached(0, 0), reached(1, 0)], 0
    while error_left(condition, max(known)) > error * (1 + 1e-12):
        if "many_coordinates" in dropped and max(known) >= 2:
            break  # there are no more
        sent += 1
        choose.passed(sent)
        source = choose((0, 1))
        known[1 - source] = max(known[1 - source], reached(1 - source, known[source]))
    return sent


def told_in_bits(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A coder quantises by the best levels, or leaves what an ideal one leaves in long blocks; steps until it rests."""
    assert bound
    growth, bits = float(inputs["growth"]), float(inputs["bits"])
    if dropped & {"gaussian_disturbance", "no_forecast"}:
        return 0.5  # a disturbance of two levels, or one that is told ahead, is cancelled as it comes
    if "linear_plant" in dropped:
        growth /= 2  # it saturates
    if dropped & {"uniform_samples", "delimited_messages"}:
        bits += 0.25  # when a message comes, or how long it is, tells as well
    left = choose([4**-bits, *([QUANTISED[int(bits)]] if bits in QUANTISED else [])])
    square = 1.0
    for _ in range(2_000):
        square = growth * growth * square * left + 1
        if square > 1e12:
            return math.inf
    return square * ROUNDED


def voted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Sensors with one threshold send a bit each, and whoever decides counts them."""
    assert bound
    shift, false_alarm, miss = (float(inputs[name]) for name in ("shift", "false_alarm", "miss"))
    if "gaussian_readings" in dropped:
        return 1  # readings of two values tell all at once
    if "known_laws" in dropped:
        shift *= 2
    if "one_bit" in dropped:  # whole readings: their mean is compared with a threshold
        wanted = halved(lambda x: above(x) > false_alarm, 0.0, 20.0)[1]
        return math.ceil(((wanted + halved(lambda x: above(x) > miss, 0.0, 20.0)[1]) / shift) ** 2)
    threshold = best_threshold(shift) + choose((-0.5, -0.2, 0.0, 0.2, 0.5)) * shift
    return counted(above(threshold), above(threshold - shift), false_alarm, miss)


def controlled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """The first controller leaves a part of the state, or moves it to one of several levels."""
    assert bound
    price, spread = float(inputs["price"]), float(inputs["spread"])
    if dropped:
        return 0.0  # the second one is told, or knows the two values that the state has
    part, step = choose(range(11)), choose(range(1, 12))
    return min(linear(price, spread, part / 10), levels(price, spread, spread * step / 4))


def _times(*times: int) -> Inputs:
    return {"times": cast("Any", tuple(map(Fraction, times)))}


ADVERSARIES = (
    Adversary(
        "rules that look at tosses",
        {
            "detection_samples": tuple(
                {"false_alarm": 1 / (1 + odds), "miss": 1 / (1 + odds), "information": _worth(odds)}
                for odds in (2, 3, 9)
            )
        },
        tossed,
    ),
    Adversary(
        "alarms on normal readings",
        {"detection_delay": tuple(given(information=d, false_alarms=g) for d, g in ((0.5, 50), (0.5, 500), (2, 100)))},
        alarmed,
    ),
    Adversary(
        "samples of a channel",
        {"sampled_at_will_age": (_times(0, 2), _times(1, 9), _times(3), _times(1, 2, 6))},
        sampled,
        ("one_at_a_time", "sent_whole", "no_forecast", "iid"),
    ),
    Adversary(
        "coordinates of a chain",
        {
            "optimisation_messages": tuple(
                {"condition": Fraction(c), "error": Fraction(1, e)} for c, e in ((9, 8), (16, 20), (100, 5))
            )
        },
        optimised,
        ("gradient_span", "many_coordinates"),
    ),
    Adversary(
        "a state that is told in bits",
        {
            "rate_limited_variance": tuple(
                {"growth": Fraction(a), "bits": Fraction(b)} for a, b in (("2", "2"), ("1.2", "1"), ("0.5", "1.5"))
            )
        },
        told_in_bits,
        ("gaussian_disturbance", "no_forecast", "linear_plant", "uniform_samples", "delimited_messages"),
    ),
    Adversary(
        "sensors of one bit",
        {
            "one_bit_sensors": tuple(
                given(shift=d, false_alarm=a, miss=m)
                for d, a, m in ((0.5, 0.000001, 0.1), (1, 0.001, 0.05), (0.2, 0.0000000001, 0.2))
            )
        },
        voted,
        ("one_bit", "gaussian_readings", "known_laws"),
    ),
    Adversary(
        "two controllers",
        {"separate_controllers_cost": tuple(given(price=k, spread=s) for k, s in ((0.2, 5), (1, 1), (0.5, 3)))},
        controlled,
        ("gaussian_readings", "told_through_state"),
    ),
)
