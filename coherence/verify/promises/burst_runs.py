"""Decides promises over plants whose load comes in bursts, by runs whose bursts begin at every time that differs.

A burst means what it means in a simulation: it begins once, or again every so often, at any first time.  Until then
the run has no bursts; once such a run recurs, a later beginning finds what an earlier one found.  Between two times of
the grid on which everything else happens all beginnings are alike.  Where flows move before the burst, they are not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import is_over, part_until
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Tree
from coherence.language.workloads import Burst
from coherence.model.model import Model
from coherence.simulate.execute.bursts import FIRST_BURST, BurstError, bursts
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError
from coherence.simulate.execute.lookback import look_backs
from coherence.simulate.execute.orbits import LongRun, Orbit, hyperperiod, is_clocked, looked_at
from coherence.simulate.execute.schedules import NotCommensurateError, grid, schedules
from coherence.simulate.execute.starts import corners, finite
from coherence.verify.promises.certainty import POSSIBLE, SHARE, Certainty
from coherence.verify.promises.edges_ahead import MOST_INSTANTS
from coherence.verify.promises.outcomes import Open, Outcome, Proved, Refuted
from coherence.verify.promises.refutations import (
    MOST_CERTIFIED,
    MOST_STARTS,
    keeps_for_ever,
    truths,
    violation,
    watched,
    whole_run,
)  # fmt: skip
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.instants import orders

MOST_BEGINNINGS, MOST_BURSTS = 2_000, 64  # times at which the first burst may begin; bursts of one run
LONGEST = 0.8  # of the time for all beginnings; the rest is for one run that breaks the promise
HOW = "exact execution with bursts that begin at every time that differs, to a recurrence"
NOT_RUN = (NotExactError, MissingValueError, NotCommensurateError, NotLinearError, BurstError)


def under_bursts(model: Model, condition: Tree, kind: str, deadline: float) -> Outcome | None:
    """Returns the outcome of a promise that reads a load with bursts; None where no load of it has bursts."""
    names = _bursting(model)
    if not names:
        return None
    try:
        if len(names) > 1:
            raise NotExactError(f"those of {' and '.join(names)} may begin at any time after each other")
        return _decided(model, model.design.workload[names[0]].burst, condition, kind, part_until(deadline, LONGEST))
    except NOT_RUN as error:
        return _tried(model, condition, kind, deadline) or Open(
            f"the bursts of {', '.join(names)} are not followed from every beginning: {error}",
            f"no run with a first burst at {float(FIRST_BURST):g} s breaks it",
        )


def _bursting(model: Model) -> tuple[str, ...]:
    """Returns the workloads with bursts whose rates a model reads."""
    workloads = model.design.workload.values()
    return tuple(w.name for w in workloads if f"{w.name}.rate" in model.constants and w.burst is not None)


def _decided(model: Model, burst: Burst | None, condition: Tree, kind: str, deadline: float) -> Outcome:
    """Decides by a run from every start, phase, order and beginning.  Raises what NOT_RUN says."""
    lasts, every = _times(burst)
    waits = tuple(time for time in (lasts, every) if time is not None)
    broken, keeping, count, whole, end = None, list[LongRun](), 0, True, deadline
    try:
        for choices in _choices(model, waits):
            for first in _beginnings(model, choices, waits, (kind, condition), deadline):
                if is_over(end):
                    raise NotExactError("the time limit")
                count += 1
                followed = _followed(model, choices, first, every, (kind, condition), deadline)
                if keeps_for_ever(model, followed, condition, kind):
                    keeping.append(followed)
                elif broken is None:
                    broken, end = followed, part_until(deadline, SHARE)
    except NOT_RUN:
        if broken is None:
            raise
        whole = False
    if broken is None:
        script = certificate(model, keeping, (kind, condition), again=every) if len(keeping) <= MOST_CERTIFIED else None
        return Proved(HOW, script, (f"{count} beginnings of the first burst stand for all",))
    instants = _until_broken(model, broken, condition, kind)
    return Refuted(broken.choices, instants, broken, Certainty(certain=whole and not keeping))


def _times(burst: Burst | None) -> tuple[Fraction, Fraction | None]:
    """Returns how long a burst lasts, and after what time it comes again.  Raises NotExactError for ranges."""
    if burst is None or burst.lasts is None or burst.rate is None:
        raise NotExactError("how long they last is not stated")
    if not all(value.exact for value in (burst.rate, burst.lasts, burst.every) if value is not None):
        raise NotExactError("their rate and times are ranges")
    return burst.lasts.low, burst.every.low if burst.every is not None else None


def _choices(model: Model, waits: tuple[Fraction, ...]) -> Iterator[Choices]:
    """Yields every start with every phase and order.  Raises NotExactError where they are not finitely many."""
    for start in finite(model, MOST_STARTS):
        if not is_clocked(model):
            yield start
            continue
        for pattern in schedules(model, waits):
            for order in orders(model.loops):
                yield Choices(start.values, pattern.phases, tuple(loop.name for loop in order))


def _beginnings(
    model: Model, choices: Choices, waits: tuple[Fraction, ...], promised: tuple[str, Tree], deadline: float
) -> Iterator[Fraction]:
    """Yields the times of the first burst that stand for all.  Raises NotExactError where there are none such."""
    flowing = [path for path, state in model.states.items() if state.flow is not None]
    if flowing:
        if is_clocked(model) or not _rests_at_once(model, choices):
            raise NotExactError(f"a burst may begin at any time while {flowing[0]} flows or is sampled")
        yield FIRST_BURST
        return
    if any(name == "mean_over" for name, _ in look_backs(model)):
        raise NotExactError("a mean over time is read, in which a burst may begin at any time")
    calm = whole_run(model, choices, promised, deadline)
    if calm.orbit is None or not calm.orbit.exact:
        raise NotExactError("without bursts no run recurs exactly")
    unit, _ = grid(model, waits)
    half = unit / (2 * (1 + sum(loop.phase is None for loop in model.loops)))
    count = int(calm.instants[-1].time / half) + 1
    if count > MOST_BEGINNINGS:
        raise NotExactError(f"there are more than {MOST_BEGINNINGS} of them")
    yield from (half * number for number in range(count + 1))


def _rests_at_once(model: Model, choices: Choices) -> bool:
    """Decides whether nothing moves in a run without bursts."""
    run = Execution(model, choices)
    before = run.base()
    return run.advance().after == before and not any(run.course.rates.values())


def _followed(
    model: Model,
    choices: Choices,
    first: Fraction,
    every: Fraction | None,
    promised: tuple[str, Tree],
    deadline: float,
) -> LongRun:
    """Returns the run whose first burst begins at a time.  Raises NotExactError where it is not known for ever."""
    if every is None:
        begun = replace(choices, schedule=bursts(model, first, first=first, values=choices.values))
        run = whole_run(model, begun, promised, deadline)
        if run.drift is None and (run.orbit is None or not run.orbit.exact):
            raise NotExactError("a run with a burst that does not recur exactly")
        return run
    begun = replace(choices, schedule=bursts(model, first + every * MOST_BURSTS, first=first, values=choices.values))
    return _recurring(model, begun, first, every, promised[1], deadline)


def _recurring(
    model: Model, choices: Choices, first: Fraction, every: Fraction, condition: Tree, deadline: float
) -> LongRun:
    """Follows a run from burst to burst until one begins as an earlier one did."""
    run, instants, whole = Execution(model, choices), list[Instant](), hyperperiod(model)
    seen: dict[tuple[object, ...], int] = {}
    looked = watched(model, condition)
    for number in range(MOST_BURSTS):
        at = first + every * number
        while (due := run.next_time()) <= at:
            if len(instants) >= MOST_INSTANTS or is_over(deadline):
                raise NotExactError("a run with bursts that does not recur soon")
            instants.append(run.advance(due))
            for tree in looked:
                looked_at(run, instants[-1], tree)
        key = run.configuration(whole if is_clocked(model) else every)[:-1]  # without the bursts to come: for ever more
        begin = seen.setdefault(key, len(instants))
        if begin < len(instants):
            lap = tuple(instants[begin:])
            orbit = Orbit(lap[0].time, instants[-1].time - instants[begin - 1].time, lap, True, Fraction(0))
            return LongRun(choices, tuple(instants), orbit)
    raise NotExactError(f"a run that does not recur within {MOST_BURSTS} bursts")


def _until_broken(model: Model, run: LongRun, condition: Tree, kind: str) -> tuple[Instant, ...]:
    """Returns the instants of a run, those of `always` and `never` up to the one at which it is broken."""
    if kind not in ("always", "never"):
        return run.instants
    looks = enumerate(truths(model, run, condition))
    wrong = next((number for number, (_, truth) in looks if truth is (kind == "never")), None)
    return run.instants if wrong is None else run.instants[: wrong // 2 + 1]


def _tried(model: Model, condition: Tree, kind: str, deadline: float) -> Refuted | None:
    """Returns a run that breaks `always` or `never`, with a first burst as a simulation has it, or none by then."""
    if kind not in ("always", "never"):
        return None
    for choices, first in itertools.product(corners(model), (FIRST_BURST, Fraction(0))):
        until = first + FIRST_BURST * MOST_BURSTS
        begun = replace(choices, schedule=bursts(model, until, first=first, values=choices.values))
        instants = violation(model, begun, condition, wanted=kind == "always", deadline=deadline)
        if instants:
            return Refuted(begun, instants, None, POSSIBLE)
    return None
