"""Models of decisions: days to buy, orders of requests, copies of data, calls of an agent, tries of layers."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs, several
from coherence.minimums.bounds.rental_by_lot_ratio import worst_ratio
from coherence.minimums.floors import Number


def bought(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A rule rents until the day on which it buys, and the last day is the worst one for it."""
    assert bound
    price = int(inputs["price"])
    days = range(1, 3 * price + 2)
    if "offline_optimum" in dropped:
        return Fraction(1)  # beside another rule that knows as little
    if "no_forecast" in dropped and choose((False, True)):
        return Fraction(1)  # the last day is known
    rules = [choose(days)] if "deterministic_policy" not in dropped else [choose(days), choose(days)]  # a coin
    paid = [[last if last < day else day - 1 + price for day in rules] for last in days]
    return max(Fraction(sum(p), len(p)) / min(last, price) for last, p in zip(days, paid, strict=True))


def drawn(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A rule draws the day on which it buys, with weights of its own for each day, and the last day is the worst."""
    assert bound
    price = int(inputs["price"])
    if "offline_optimum" in dropped or ("no_forecast" in dropped and choose((False, True))):
        return Fraction(1)  # beside another rule that knows as little, or the last day is known
    weights = {day: Fraction(choose(WEIGHTS[price])) for day in range(1, price + 2)}
    if not any(weights.values()):
        raise HopelessError
    return worst_ratio({day: weight / sum(weights.values()) for day, weight in weights.items()}, price)


def served(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A rule goes round some states, and takes so much in each before it moves on; tasks charge where it is.

    It goes round until what each state has cost hindsight differs as it did before; the ratio is that of these rounds.
    """
    assert bound
    states = int(inputs["states"])
    if dropped & {"no_forecast", "offline_optimum"} or ("any_task" in dropped and choose((False, True))):
        return Fraction(1)  # it knows what comes, or waits in a state that no task charges
    if "deterministic_policy" in dropped:  # lots, alike distances: Borodin, Linial and Saks 1992
        return Fraction(2) if states == 2 else 2 * sum(Fraction(1, k) for k in range(1, states + 1))
    back = choose((1, 2)) if "symmetric_moves" in dropped else 1
    away = [[0 if i == j else 1 if (j - i) % states == 1 else back for j in range(states)] for i in range(states)]
    ways = [at for at in itertools.product(range(states), repeat=states) if all(a != b for a, b in _turns(at))]
    turns = [(a, b, Fraction(choose(range(1, 5)), 2)) for a, b in _turns(choose(ways))] if states > 1 else []
    best, paid, seen = [Fraction(0)] * states, Fraction(0), dict[tuple[Fraction, ...], tuple[Number, Number]]()
    while turns:
        apart = tuple(cost - min(best) for cost in best)
        if apart in seen:
            before, least = seen[apart]
            return (paid - before) / (min(best) - least) if min(best) > least else HUGE
        seen[apart] = (paid, min(best))
        for at, after, taken in turns:
            best[at] += taken
            best = [min(cost + away[j][i] for j, cost in enumerate(best)) for i in range(states)]
            paid += taken + away[at][after]
    return Fraction(1)  # one state


def _turns(at: tuple[int, ...]) -> list[tuple[int, int]]:
    return [*zip(at, at[1:] + at[:1], strict=True)]


def ordered(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A server gives each unit of time to one request that is there, or to none."""
    assert bound
    arrivals, left = several(inputs, "arrivals"), list(several(inputs, "sizes"))
    now, total = 0, 0
    while any(left):
        here = [k for k, size in enumerate(left) if size and arrivals[k] <= now]
        for _ in range(2 if "one_at_a_time" in dropped else 1):
            served = choose([k for k in here if left[k]] or [None])
            if served is not None:
                left[served] -= 1
        total, now = total + len(here), now + 1
        choose.passed(Fraction(total, len(left)))
    return Fraction(total, len(left))


def copied(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each part of the data lies with any workers; whichever are late, the others have all parts."""
    assert bound
    workers, late = int(inputs["workers"]), int(inputs["late"])
    held = [[worker for worker in range(workers) if choose((False, True))] for _ in range(2)]  # of two parts
    gone = itertools.combinations(range(workers), late)
    if "exact_sum" not in dropped and not all(set(part) - {*lost} for lost in gone for part in held):
        raise HopelessError
    return Fraction(sum(map(len, held)), len(held) * workers)


def called(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """An agent writes and calls its tool in turn; what does not depend on a step may go on beside it."""
    if bound == "tokens_read_once":
        calls, first, added = (int(inputs[name]) for name in ("calls", "first", "added"))
        unread = 1 if "every_token_read" in dropped else 0
        again = [choose((0, 1)) for _ in range(calls - 1)]  # the whole context once more
        lengths = [first + call * added for call in range(calls)]
        return sum(lengths[k + 1] if once else added - unread for k, once in enumerate(again)) + first - unread
    steps, words = int(inputs["steps"]), Fraction(inputs["tokens"]) / Fraction(inputs["rate"])
    tool, now, spoken = Fraction(inputs["tool"]), Fraction(0), Fraction(0)
    for step in range(steps):
        spoken = now + words
        now = spoken + (tool if step < steps - 1 else 0)
        if "dependent_steps" in dropped and step < steps - 1:
            now = spoken  # it goes on before the tool has answered
        if "whole_steps" in dropped and step < steps - 1:
            now -= min(words / 2, tool)  # the call stands in the first half of what is written
        now += choose((Fraction(0), tool))  # it may also wait
    return now


def tried(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each layer tries again until its tries are over, or something succeeds; the worst case is asked for."""
    assert bound
    outer, inner = int(inputs["outer"]), int(inputs["inner"])
    sees = [False, True] if "same_cause" in dropped else [True]  # whether a layer retries what fails below
    counts = []
    retries = choose(sees)
    for success in range(outer * inner + 1):  # the try that succeeds; the last value: none does
        attempts = 0
        for _ in range(outer if retries else 1):
            below = min(inner, success + 1 - attempts) if success < outer * inner else inner
            attempts += below
            if attempts > success:
                break
        counts.append(attempts)
    return max(counts)


WEIGHTS = {1: (0, 1), 2: (0, 1, 2, 3), 3: (0, 4, 6, 9)}  # by price
HUGE = Fraction(10**9)  # of a ratio to nothing
TRACES = (((0, 1, 2), (4, 1, 2)), ((0, 0), (3, 1)), ((0, 0, 1), (2, 3, 1)))
ADVERSARIES = (
    Adversary(
        "a day to buy",
        {"ski_rental": tuple({"price": Fraction(b)} for b in (1, 2, 5))},
        bought,
        ("deterministic_policy", "no_forecast", "offline_optimum"),
    ),
    Adversary(
        "a day to buy that is drawn",
        {"rental_by_lot_ratio": tuple({"price": Fraction(b)} for b in WEIGHTS)},
        drawn,
        ("no_forecast", "offline_optimum"),
    ),
    Adversary(
        "tasks that charge where a rule is",
        {"task_system_ratio": tuple({"states": Fraction(n)} for n in (1, 2, 3))},
        served,
        ("deterministic_policy", "no_forecast", "offline_optimum", "any_task", "symmetric_moves"),
    ),
    Adversary(
        "orders of requests",
        {"shortest_first_time": tuple(cast("Any", {"arrivals": a, "sizes": s}) for a, s in TRACES)},
        ordered,
        ("one_at_a_time",),
    ),
    Adversary(
        "copies of parts",
        {
            "gradient_coding_load": tuple(
                {"workers": Fraction(n), "late": Fraction(s)} for n, s in ((3, 1), (4, 2), (3, 0))
            )
        },
        copied,
        ("exact_sum",),
    ),
    Adversary(
        "calls of an agent",
        {
            "agent_critical_path": (
                {"steps": Fraction(4), "tokens": Fraction(8), "rate": Fraction(4), "tool": Fraction(3)},
            ),
            "tokens_read_once": ({"calls": Fraction(4), "first": Fraction(20), "added": Fraction(8)},),
        },
        called,
        ("dependent_steps", "whole_steps", "every_token_read"),
    ),
    Adversary(
        "tries of two layers",
        {"nested_attempts": tuple({"outer": Fraction(o), "inner": Fraction(i)} for o, i in ((3, 4), (2, 2), (1, 5)))},
        tried,
        ("same_cause",),
    ),
)
