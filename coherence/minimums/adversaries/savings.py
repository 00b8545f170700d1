"""Models of what may be saved: old readings, coarse messages, coded shuffles, products on several processors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

LONG = 60  # updates for each one that a reading is old, before the fall of an error is read off
CELLS = range(1, 17)  # of one number


def stale(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """An error is pushed back by a gain on what was read some updates ago; how fast it falls in the long run counts."""
    assert bound
    age = int(inputs["staleness"])
    best = Fraction(age**age, (age + 1) ** (age + 1))
    if "gain_law" in dropped and choose((False, True)):
        return 1.0  # what the updates under way will do is known, so that one update is enough
    gain = float(best * choose([Fraction(k, 10) for k in (2, 5, 8, 9, 10, 11, 12, 15, 20)]))
    stays = choose((1.0, 0.75, 0.5)) if "integrator" in dropped else 1.0
    waits = "linear_law" in dropped and choose((False, True))  # all that is read has stood still: one gain of 1
    past, sizes = [1.0] * (age + 1), []
    for update in range(1, 2 * LONG * (age + 1) + 1):
        now = (0.0 if update % (age + 1) else 1.0) if waits else gain
        past = [stays * past[0] - now * past[age], *past[:-1]]
        sizes.append(max(map(abs, past)))
    half = len(sizes) // 2
    fallen = math.log(sizes[half] / sizes[-1]) if sizes[-1] else math.inf
    if fallen <= 0:
        raise HopelessError
    return (len(sizes) - 1 - half) / fallen * (1 + 1e-2)


def coarse(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each number is told by its cell; what a cell leaves open of all of them together is the error."""
    assert bound
    numbers, error = int(inputs["dimension"]), float(inputs["error"])
    cells = [choose(CELLS) for _ in range(numbers)]
    if "no_forecast" in dropped:
        return 0.0  # the vector follows a law that both ends know
    if "deterministic_policy" in dropped:
        return sum(math.log2(count) for count in cells) / 2  # a common lot leaves the error to a mean
    messages = math.prod(cells)
    if math.sqrt(sum((1 / count) ** 2 for count in cells)) > error * (1 + 1e-12):
        raise HopelessError
    if "delimited_messages" in dropped:
        return messages.bit_length() - 1  # of the longest one: 2^(b + 1) - 1 messages have no more than b bits
    return math.log2(messages)


def shuffled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Machines send what others lack, one by one or as sums; a sum is of use to who has all but one of its values."""
    assert bound
    machines, repeats = int(inputs["machines"]), int(inputs["repeats"])
    if "balanced" in dropped and choose((False, True)):
        return Fraction(0)  # one machine computes and reduces all
    parts = list(itertools.combinations(range(machines), repeats))
    lacking = sum(machines - len(part) for part in parts)
    group = choose(range(1, repeats + 1))  # how many take another value from one sum
    if "uncompressed" in dropped:
        lacking = lacking // 2
    each = 2 if "separate_values" in dropped else 1  # values of a part, which are added before they are sent
    return Fraction(lacking, group * machines * len(parts) * each)


def multiplied_apart(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each processor multiplies its share of blocks, each of which it gets and gives back whole."""
    assert bound
    m, k, n, processors, room = (int(inputs[name]) for name in ("m", "k", "n", "processors", "room"))
    sides = [choose([s for s in (1, 2, 3, 4, 8, 16) if s <= size]) for size in (m, k, n)]
    shadows = sides[0] * sides[1] + sides[1] * sides[2] + sides[0] * sides[2]
    if shadows > room:
        raise HopelessError
    blocks = math.prod(math.ceil(size / side) for size, side in zip((m, k, n), sides, strict=True))
    if "given_inputs" in dropped:  # each factor is computed where it is needed, and sums stay where they grow
        return Fraction(0)
    few = 100 if "plain_products" in dropped or "uncompressed" in dropped else 1  # zeros are left out, or not sent
    return Fraction(math.ceil(blocks / processors) * (shadows - max(sides[0] * sides[1], sides[0] * sides[2])), few)


def counted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Histories of counts are put into states, some into one; no later state may count apart for two of them."""
    assert bound
    replicas, most = int(inputs["replicas"]), int(inputs["most"])
    histories = list(itertools.product(range(most + 1), repeat=replicas))
    if "counted_anywhere" in dropped:
        histories = [one for one in histories if not any(one[1:])]
    states: list[list[tuple[int, ...]]] = []
    for history in histories:
        fitting = [state for state in states if all(_alike(one, history, most, dropped) for one in state)]
        state = choose([*fitting, []])
        if not state:
            states.append(state)
        state.append(history)
    if "delimited_messages" in dropped:
        return len(states).bit_length() - 1
    return math.log2(len(states))


def _alike(first: tuple[int, ...], second: tuple[int, ...], most: int, dropped: frozenset[str]) -> bool:
    """Returns whether two histories have one sum, now and after any state of any replica has come."""
    if "merged_states" in dropped or sum(first) != sum(second):
        return sum(first) == sum(second)
    return all(max(a, count) - a == max(b, count) - b
               for a, b in zip(first, second, strict=True) for count in range(most + 1))  # fmt: skip


ADVERSARIES = (
    Adversary("updates on old readings", {"stale_updates": tuple(given(staleness=d) for d in (1, 2, 5))}, stale,
              ("gain_law", "linear_law", "integrator")),
    Adversary(
        "cells of numbers",
        {"gradient_bits": tuple(given(dimension=d, error=e) for d, e in ((1, 0.5), (1, 0.1), (2, 0.3), (3, 0.25)))},
        coarse, ("deterministic_policy", "no_forecast", "delimited_messages"),
    ),
    Adversary(
        "values that are shuffled",
        {"coded_shuffle_load": tuple(given(machines=k, repeats=r) for k, r in ((3, 1), (3, 2), (4, 2), (4, 3)))},
        shuffled, ("balanced", "uncompressed", "separate_values"),
    ),
    Adversary(
        "histories in states",
        {"merged_counter_bits": tuple(given(replicas=n, most=m) for n, m in ((2, 1), (3, 1), (2, 2), (2, 3)))},
        counted, ("merged_states", "counted_anywhere", "delimited_messages"),
    ),
    Adversary(
        "products on processors",
        {
            "product_exchange": (
                given(m=16, k=16, n=16, processors=1, room=4), given(m=8, k=8, n=8, processors=2, room=6),
                given(m=16, k=16, n=16, processors=1, room=48),
            )
        },
        multiplied_apart, ("plain_products", "uncompressed", "given_inputs"),
    ),
)  # fmt: skip
