"""load of a coded shuffle: the least share of intermediate values that cross a bus where each is computed r times.

## What
(1 - r/K)/r of all values, for K machines of which r compute each part: machines that know what others lack send sums
from which r of them each take another value.  Without codes it is 1 - r/K.

## Why it matters
Computing twice can cost less than sending once; it is the exact exchange rate of the two.

## Example
10 machines, each part computed twice: 40 % of the values.

## Source
S. Li, M. Maddah-Ali, Q. Yu and A. Avestimehr, "A fundamental tradeoff between computation and communication in
distributed computing", IEEE Trans. Inf. Theory 64(1), 2018.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness


def run(inputs: Inputs) -> Fraction:
    """Sends the sums of every group of r + 1 machines, and checks that each machine can take out what it lacks.

    A part is computed by the machines of one set; each value that a machine lacks is cut into one piece for each of
    the r that have it.
    """
    machines, repeats = int(inputs["machines"]), int(inputs["repeats"])
    parts = list(itertools.combinations(range(machines), repeats))
    lacking = {(who, part, sender) for who in range(machines) for part in parts if who not in part for sender in part}
    sent = Fraction(0)
    for group in itertools.combinations(range(machines), repeats + 1):
        for sender in group:
            pieces = [(who, tuple(m for m in group if m != who), sender) for who in group if who != sender]
            if any(who not in part for who, _, _ in pieces for other, part, _ in pieces if other != who):
                raise AssertionError("a machine cannot take a sum apart")
            lacking -= set(pieces)
            sent += Fraction(1, repeats)
    if lacking:
        raise AssertionError("a machine lacks a value")
    return sent / (machines * len(parts))


def converse() -> Checked:
    """Checks for up to four machines that what any set of machines lacks together is no more than the bus carries.

    For each set S of machines and each order of it, what the machines lack that all before them lack too is counted.
    """
    for machines in (2, 3, 4):
        for repeats in range(1, machines):
            parts = list(itertools.combinations(range(machines), repeats))
            least = Fraction(0)
            for order in itertools.permutations(range(machines)):
                seen, values = set[int](), 0
                for who in order:
                    seen.add(who)
                    values += sum(not seen & {*part} for part in parts)
                least = max(least, Fraction(values, machines * len(parts)))
            if least > (1 - Fraction(repeats, machines)) / repeats:
                return Checked(False, f"{machines} machines, {repeats} times")
    return Checked(True, "cuts of up to four machines lie below it; schedules of all groups attain it")


BOUND = Bound(
    name="coded_shuffle_load",
    group="collectives",
    quantity="share of intermediate values that cross the bus",
    unit="1",
    kind=Status.TIGHT,
    loss="network",
    symbols=(
        Symbol("machines", "1", "machines that compute and reduce", Trend.RISES, least=1, whole=True, sign="K"),
        Symbol("repeats", "1", "machines that compute each part", Trend.FALLS, least=1, whole=True, sign="r"),
    ),
    formula="(1 - repeats / machines) / repeats",
    valid="repeats <= machines",
    assumptions=("uncompressed", "balanced", "separate_values"),
    source="Li et al. 2018",
    examples=(
        Example({"machines": Fraction(10), "repeats": Fraction(2)}, 0.4, "published formula"),
        Example({"machines": Fraction(3), "repeats": Fraction(2)}, 1 / 6, "three sums of half values"),
    ),
    proofs=(Recheck("enumeration", "cuts of few machines", converse),),
    witness=Witness("sums of every group, taken apart", run),
    telemetry=("bytes of a shuffle", "machines that compute a part"),
    unread="no key states which machines compute a part several times",
)
