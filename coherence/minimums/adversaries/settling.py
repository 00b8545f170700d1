"""Models of what settles or does not: gains, delays, time scales, lost readings and retries, each run until it shows.

A value of a ceiling is tried on both sides of it, in steps of a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs, several
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry

FINE = 40  # steps of a delay in continuous time
WINDOW = 10  # delays in which a swing shows its peak
TENTHS = tuple(Fraction(2 * k + 1, 20) for k in range(40))  # of a ceiling


def first_loss(settles: Callable[[float], bool], ceiling: Number) -> Number:
    """Returns the largest tried value up to which every tried one settles.  Raises HopelessError for none."""
    reached = None
    for part in TENTHS:
        if not settles(float(part * Fraction(ceiling))):
            break
        reached = part * Fraction(ceiling)
    if reached is None:
        raise HopelessError
    return reached


def held(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A loop that integrates what it reads of its past runs until its swings grow or shrink."""
    delays = int(inputs["delay"]) if bound == "delay_gain_sampled" else FINE
    step = float(inputs["delay"]) / FINE if bound == "delay_gain_continuous" else 1.0
    weights = [*map(float, several(inputs, "weights"))] if bound == "sampled_gain" else [*[0.0] * delays, 1.0]
    predicts = "gain_law" in dropped and choose((False, True))
    keeps = 1 - step / 2 if "integrator" in dropped else 1.0  # of an error in a step

    def settles(gain: float) -> bool:
        past, sent = [1.0] * len(weights), [0.0] * len(weights)  # newest first
        peaks, length = [], WINDOW * len(weights)
        for _ in range(12):
            peak = 0.0
            for _ in range(length):
                read = past[0] if predicts else sum(w * x for w, x in zip(weights, past, strict=True) if w)
                sent = [-gain * step * read, *sent[:-1]]
                past = [keeps * past[0] + sent[0], *past[:-1]]
                peak = max(peak, abs(past[0]))
            peaks.append(peak)
        return peaks[-1] < peaks[2] or peaks[-1] < 1e-9

    return first_loss(settles, at(entry(bound).bound, inputs))


def two_scales(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Two coupled parts, one of them faster, run for ever longer times."""
    import numpy as np
    from scipy.linalg import expm

    assert not dropped
    assert choose((bound,))
    a11, a12, a21, a22 = (float(inputs[name]) for name in ("a11", "a12", "a21", "a22"))

    def settles(ratio: float) -> bool:
        step = expm(np.array([[a11, a12], [a21 / ratio, a22 / ratio]]) * ratio)
        return bool(np.linalg.norm(np.linalg.matrix_power(step, 2000)) < 1)

    return first_loss(settles, at(entry(bound).bound, inputs))


def lost(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A state grows each step; a reading that arrives lets a law push it back, and the mean square is followed."""
    assert bound
    growth, remaining = float(inputs["growth"]), choose((0.0, 0.25, 0.5))  # of the state that is left by the law
    in_turn = "independent_losses" in dropped and choose((False, True))  # one reading of two arrives

    def settles(share: float) -> bool:
        if share > 1:
            return False
        if in_turn:
            return share <= 0.5 and (growth * growth * remaining) ** 2 < 1
        return share * growth**2 + (1 - share) * (growth * remaining) ** 2 < 1

    return first_loss(settles, at(entry(bound).bound, inputs))


def cut(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """What is not known of a state is an interval that grows each step, and is cut into cells where a message comes.

    A moment of its length is followed; cells may be unlike.
    """
    assert bound
    loss, bits, moment = (float(inputs[name]) for name in ("loss", "bits", "moment"))
    bits += 0.5 if dropped & {"uniform_samples", "delimited_messages"} else 0  # when it comes, or how long it is
    first = choose((0.5, 0.3, 0.1))  # a first half of the cells takes such a part of the interval
    left = sum(math.pow(2, (1 - bits) * moment) * math.pow(part, 1 + moment) for part in (first, 1 - first))
    in_turn = "independent_losses" in dropped and choose((False, True))  # one message of two arrives

    def settles(growth: float) -> bool:
        growth = growth / 2 if "linear_plant" in dropped else growth  # it saturates
        if in_turn:
            return loss <= 0.5 and math.pow(growth, 2 * moment) * left < 1
        return math.pow(growth, moment) * (loss + (1 - loss) * left) < 1

    return first_loss(settles, at(entry(bound).bound, inputs))


def retried(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A queue of a thousand time-outs, slot by slot: what waits too long is tried again, and served all the same."""
    tries = int(inputs["tries"])
    if "same_cause" in dropped:
        tries = choose((1, tries))  # another layer's failures are not tried again here
    if "all_tries_made" in dropped:
        tries = min(tries, choose((1, tries)))  # a budget ends them

    if dropped & {"fcfs", "long_queue"}:
        tries = 1  # the newest, or all that there is room for, are answered in time

    def settles(load: float) -> bool:
        backlog = 1000.0
        for _ in range(60_000):
            if "abandoned_work_is_served" in dropped:
                backlog = min(backlog, 1.0)  # what has waited for its time-out leaves the queue
            backlog += load * (tries if backlog > 1 else 1) - 1
            if backlog <= 0:
                return True
        return False

    return first_loss(settles, at(entry(bound).bound, inputs))


def _weights(*values: float) -> Inputs:
    return {"weights": cast("Any", tuple(Fraction(str(value)) for value in values))}


ADVERSARIES = (
    Adversary(
        "gains that are raised until a loop swings",
        {
            "delay_gain_sampled": tuple(given(delay=d) for d in (1, 2, 4)),
            "delay_gain_continuous": tuple(given(delay=d) for d in (1, 0.25)),
            "sampled_gain": (_weights(0.5, 0.5), _weights(0.3, 0.3, 0.1, 0.2, 0.1), _weights(0, 0, 1)),
        },
        held,
        ("gain_law", "integrator"),
    ),
    Adversary(
        "time scales that come nearer",
        {
            "time_scale_separation": (
                given(a11=0.5, a12=1, a21=-2, a22=-1), given(a11=0.25, a12=-1, a21=3, a22=-2),
            )
        },
        two_scales,
    ),
    Adversary(
        "readings that get lost", {"lost_readings": tuple(given(growth=g) for g in (1.5, 2, 1.1))}, lost,
        ("independent_losses",),
    ),
    Adversary(
        "messages that cut what is not known",
        {
            "lossy_channel_growth": tuple(
                given(loss=p, bits=b, moment=m) for p, b, m in ((0.5, 1, 2), (0.1, 2, 1), (0.3, 3, 4))
            )
        },
        cut,
        ("linear_plant", "independent_losses", "uniform_samples", "delimited_messages"),
    ),
    Adversary(
        "tries that keep an overload",
        {"overload_free_load": tuple(given(tries=t) for t in (2, 4))},
        retried,
        ("abandoned_work_is_served", "same_cause", "all_tries_made", "fcfs", "long_queue"),
    ),
)  # fmt: skip
