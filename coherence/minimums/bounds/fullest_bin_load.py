"""load of the fullest bin: how many of m balls lie together on average where each goes to the emptiest of d drawn bins.

## What
The mean of the largest number of balls in a bin, from the chain of how many bins hold how many.  For n balls in n bins
it grows as ln n/ln ln n with one choice and as ln ln n/ln d with d (Azar, Broder, Karlin and Upfal 1999); the constants
beside those orders are not known, so that the chain is solved.

## Why it matters
Hashing of keys to shards, of requests to servers and of members to devices loads one of them more than the mean; a
second look takes most of that away, a third one little more.

## Example
20 balls in 20 bins: 3.23 with one choice, 2.15 with two; all equal would be 1.

## Source
Y. Azar, A. Broder, A. Karlin and E. Upfal, "Balanced allocations", SIAM J. Computing 29(1), 1999 (the growth).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
)

Levels = tuple[int, ...]  # how many bins hold at least one ball, two balls, and so on


def fullest(inputs: Inputs) -> float:
    """Throws ball after ball: all d looks see k balls or more with chance (bins that hold k/n)^d."""
    balls, bins, choices = (int(inputs[name]) for name in ("balls", "bins", "choices"))
    chances: dict[Levels, float] = {(): 1.0}
    for _ in range(balls):
        after: dict[Levels, float] = defaultdict(float)
        for levels, chance in chances.items():
            shares = [1.0, *((count / bins) ** choices for count in levels), 0.0]
            for height, (share, higher) in enumerate(itertools.pairwise(shares)):
                if share > higher:
                    raised = (*levels, 0) if height == len(levels) else levels
                    after[(*raised[:height], raised[height] + 1, *raised[height + 1 :])] += chance * (share - higher)
        chances = after
    return sum(chance * len(levels) for levels, chance in chances.items())


def every_throw() -> Checked:
    """Compares the chain with every sequence of looks of few balls, in exact fractions."""
    for balls, bins, choices in ((3, 3, 1), (4, 2, 1), (3, 3, 2), (3, 2, 2), (2, 2, 3)):
        total, every = 0, bins ** (choices * balls)
        for thrown in itertools.product(itertools.product(range(bins), repeat=choices), repeat=balls):
            held = [0] * bins
            for seen in thrown:
                held[min(seen, key=held.__getitem__)] += 1
            total += max(held)
        mean = Fraction(total, every)
        if abs(float(mean) - fullest({"balls": balls, "bins": bins, "choices": choices})) > 1e-12:
            return Checked(False, f"{balls} balls, {bins} bins, {choices} looks: {mean}")
    return Checked(True, "every sequence of looks of up to four balls")


BOUND = Bound(
    name="fullest_bin_load",
    group="queues",
    quantity="mean number of balls in the fullest bin",
    unit="1",
    kind=Status.CLASS_COST,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("balls", "1", "balls that are thrown", Trend.RISES, most=40, whole=True, sign="m"),
        Symbol("bins", "1", "bins", Trend.FALLS, least=1, most=1e9, whole=True, sign="n"),
        Symbol("choices", "1", "bins that each looks at", Trend.FALLS, least=1, most=100, whole=True, sign="d"),
    ),
    compute=fullest,
    assumptions=("drawn_alike",),
    source="Azar, Broder, Karlin and Upfal 1999",
    examples=(
        Example({"balls": 2, "bins": 2, "choices": 1}, 1.5, "by hand"),
        Example({"balls": 2, "bins": 2, "choices": 2}, 1.25, "by hand"),
        Example({"balls": 3, "bins": 3, "choices": 1}, 51 / 27, "by hand: 6, 18 and 3 of 27"),
    ),
    proofs=(Recheck("enumeration", "every sequence of looks of few balls", every_throw, ProofGrade.INSTANCES),),
    telemetry=("load of each bin",),
    display=(
        r"\sum_{k = 0}^{m - 1} P\left( \text{some of } n \text{ bins holds more than } k \text{ of } m "
        r"\text{ balls, each in the emptiest of } d \right)"
    ),
    unread="no key states that requests are spread by lot",
)
