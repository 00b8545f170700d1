"""Models of loops: what feedback makes of disturbances, and words that say where an unstable state lies."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs, several
from coherence.minimums.floors import Number

POINTS = 400  # of a circle, or of a line of frequencies
TAPS = tuple(Fraction(k, 4) for k in range(-4, 5))
SLACK = 1 + 1e-3  # of a peak that is looked for on a grid, upwards


def sampled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every settling loop has a sensitivity that is 1 at once, and 0 at each unstable eigenvalue; others are free."""
    assert bound
    growth, share, level = (float(inputs[name]) for name in ("growth", "share", "level"))
    preview = float(inputs.get("preview", 0))
    told_ahead = 2.0**-preview  # what is left of a disturbance whose first bits are known
    if "gaussian_disturbance" in dropped and preview >= 1:
        told_ahead = 0.0  # it has two levels, and one bit tells which
    first: float = told_ahead * (choose((1.0, 0.75, 0.5)) if "strictly_proper" in dropped else 1.0)
    taps = [first, *(float(choose(TAPS)) for _ in range(2))]
    if growth > 1:  # times 1 - growth / z
        taps = [a - growth * b for a, b in zip([*taps, 0.0], [0.0, *taps], strict=True)]
    turns = [cmath.exp(-2j * math.pi * (k + 0.5) / POINTS) for k in range(POINTS)]
    sizes = sorted(abs(sum(tap * turn**k for k, tap in enumerate(taps))) for turn in turns)
    if share and sizes[min(POINTS - 1, math.ceil(share * POINTS))] > level:
        raise HopelessError  # it damps too few of them
    return sizes[-1] * SLACK


def continuous(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every settling loop on a stable plant has a sensitivity 1 - q, q a stable low pass of any shape.

    What is amplified beyond the bandwidth is taken as if it were amplified within it.
    """
    assert bound
    band, level, available = (float(inputs[name]) for name in ("band", "level", "available"))
    fast, damping = choose((1, 2, 4, 8, 16)), choose((0.3, 0.5, 0.7, 1.0))
    first = "roll_off" in dropped and choose((False, True))  # q falls like 1/frequency
    near, tail = 0.0, 0.0
    for k in range(POINTS * 10):
        turn = (k + 0.5) * math.pi / 2 / (POINTS * 10)  # all frequencies, to the highest: its tangent
        w = fast * math.tan(turn)
        s = 1j * w
        q = fast / (s + fast) if first else fast**2 / (s * s + 2 * damping * fast * s + fast**2)
        size = abs(1 - q)
        if w < band and size > level:
            raise HopelessError
        if w < available:
            near = max(near, size)
        elif "available_bandwidth" not in dropped:
            tail += math.log(size) * fast / math.cos(turn) ** 2 * math.pi / 2 / (POINTS * 10)
    return near * math.exp(max(0.0, tail) / (available - band)) * SLACK**3


def delayed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A command follows what is read, and how fast it moves; where that holds the pole, its peak is measured."""
    assert bound
    assert not dropped
    import numpy as np

    pole, delay = float(inputs["pole"]), float(inputs["delay"])
    gain, rate = choose([pole * (1 + k / 5) for k in range(1, 12)]), choose((0.0, 0.2, 0.4, 0.6, 0.8))
    w = np.geomspace(1e-4, 3e3, 40_000)
    loop = (gain + rate * 1j * w) * np.exp(-1j * w * delay)
    ends = 1j * w - pole + loop
    turned = np.unwrap(np.angle(ends))
    last = np.angle(ends[-1] / (1j * w[-1]))  # how far the last angle is from that of a quarter turn
    if abs(turned[-1] - turned[0] - last - math.pi / 2) > 0.1:
        raise HopelessError  # it does not settle: not all roots are on the left
    return float(np.abs(loop / ends).max()) * SLACK


def worded(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each few samples one of some words says in which cell the state lies; every cell must come back into the whole.

    Bytes a sample, or a second where the samples may lie at any distance.
    """
    growths, seconds = _growths(choose, bound, inputs)
    if "uniform_samples" in dropped and len(growths) == 1 and growths[0] < 2:
        # nothing is sent until the state leaves its interval: then one bit, and the cell is what it has grown by
        silent = math.floor(math.log(2 / (growths[0] - 1)) / math.log(growths[0]))
        return 1 / max(1, silent) / seconds / 8
    bits = 0.0
    for growth in growths:
        length = choose((1, 2, 3))
        words = choose(range(1, 10))
        cells = [Fraction(choose((1, 2))) for _ in range(words)] if words < 4 else [Fraction(1)] * words
        widest = max(cells) / sum(cells) * 2
        if float(widest) * growth**length > 2 * (1 + 1e-12):
            raise HopelessError  # what is not known of it grows
        bits += math.log2(words) / length
    return bits / seconds / 8


def _growths(choose: Chooser, bound: str, inputs: Inputs) -> tuple[list[float], float]:
    if bound == "data_rate":
        return [size for one in several(inputs, "eigenvalues") if (size := abs(complex(one))) > 1], 1.0
    period = choose((0.05, 0.5, 1.0))
    return [math.exp(float(pole) * period) for pole in several(inputs, "poles") if float(pole) > 0], period


def _listed(name: str, *values: Fraction | float) -> Inputs:
    return {name: cast("Any", values)}


ADVERSARIES = (
    Adversary(
        "sampled loops",
        {
            "bode_sampled": (
                given(growth=1, share=0.5, level=0.9),
                given(growth=1, share=0.25, level=0.5),
                given(growth=1.5, share=0, level=1),
                given(growth=1.25, share=0.2, level=0.8),
            ),
            "bode_side_information": (
                given(growth=1, share=0.5, level=0.5, preview=0.25),
                given(growth=2, share=0, level=1, preview=1),
                given(growth=1.5, share=0.2, level=0.9, preview=0.5),
            ),
        },
        sampled,
        ("strictly_proper", "gaussian_disturbance"),
    ),
    Adversary(
        "loops in continuous time",
        {
            "bode_continuous": tuple(
                given(poles=0, band=band, level=level, available=available)
                for band, level, available in ((1, 0.5, 4), (0.5, 0.1, 10), (1, 0.3, 3), (2, 0.6, 6), (1, 0.1, 2))
            )
        },
        continuous,
        ("roll_off", "available_bandwidth"),
    ),
    Adversary(
        "a pole behind a delay",
        {"unstable_pole_peak": tuple(given(pole=p, delay=d) for p, d in ((1, 0.1), (1, 0.3), (2, 0.05)))},
        delayed,
    ),
    Adversary(
        "words about a state",
        {
            "data_rate": (
                _listed("eigenvalues", 2),
                _listed("eigenvalues", 3, Fraction(1, 2)),
                _listed("eigenvalues", math.sqrt(2)),
                _listed("eigenvalues", 2, math.sqrt(2)),
            ),
            "data_rate_continuous": (_listed("poles", 1), _listed("poles", Fraction(1, 2), -3)),
        },
        worded,
        ("uniform_samples",),
    ),
)
