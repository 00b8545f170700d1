"""Refutes promises by exact runs; decides them where starts are finitely many and every run recurs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import is_over, part_until
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Call, Compare, Held, Tree, walk
from coherence.model.model import Model
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices, Execution, Instant, View
from coherence.simulate.execute.history import frozen
from coherence.simulate.execute.orbits import LongRun, hyperperiod, is_clocked, looked_at, resting_run
from coherence.simulate.execute.schedules import schedules
from coherence.simulate.execute.starts import corners, finite
from coherence.verify.promises.certainty import certainty
from coherence.verify.promises.edges_ahead import (
    LAPS,
    MOST_DRIFTING,
    MOST_INSTANTS,
    PAST,
    followed_run,
    laps_to_an_edge,
)  # fmt: skip
from coherence.verify.promises.flow_watches import is_watched
from coherence.verify.promises.outcomes import Open, Outcome, Proved, Refuted
from coherence.verify.promises.run_choices import all_phases, other_choices
from coherence.verify.systems.affine_between_instants import decided_at_instants

MOST_STARTS = 2_000
# of the search among other orders and phases: all instants, those of each run at least, runs, share of the time
MOST_OTHER_INSTANTS, LEAST_INSTANTS, MOST_OTHER_CHOICES, OTHER_SHARE = 12_000, 60, 400, 0.25
FRESH = 4  # times as many laps are run where the run does not recur
MOST_CERTIFIED = 200  # runs whose arithmetic is written down


def refuted(model: Model, condition: Tree, kind: str, deadline: float) -> Refuted | None:
    """Returns the first run that breaks the promise: of all corners, else of other orders, phases and varying values.

    Certain where runs break it whatever the design leaves open.  Phases of which some alone are run are left for
    `in_other_choices`, where no proof stands.
    """

    def broken_after(choices: Choices) -> int:
        refutation = _breaks(model, choices, condition, kind, deadline)
        return len(refutation.instants) if refutation is not None else 0

    for number, choices in enumerate(corners(model)):
        if number and is_over(deadline):
            break
        refutation = _breaks(model, choices, condition, kind, deadline)
        if refutation is not None and number == 0:
            return replace(refutation, certainty=certainty(model, broken_after, deadline))
        if refutation is not None:
            return refutation
    return in_other_choices(model, condition, kind, part_until(deadline, OTHER_SHARE)) if all_phases(model) else None


def in_other_choices(model: Model, condition: Tree, kind: str, deadline: float) -> Refuted | None:
    """Returns the first run in another order or phase, or with other varying values, that breaks the promise."""
    left = MOST_OTHER_INSTANTS
    candidates = list(itertools.islice(other_choices(model), MOST_OTHER_CHOICES))
    for choices in candidates:
        if left <= 0 or is_over(deadline):
            return None
        most = max(LEAST_INSTANTS, MOST_OTHER_INSTANTS // len(candidates))
        refutation = _breaks(model, choices, condition, kind, deadline, most=min(most, left))
        if refutation is not None:
            return refutation
        left -= most
    return None


def _breaks(
    model: Model, choices: Choices, condition: Tree, kind: str, deadline: float, *, most: int = MOST_INSTANTS
) -> Refuted | None:
    if kind in ("always", "never"):
        instants = violation(model, choices, condition, wanted=kind == "always", deadline=deadline, most=most)
        return Refuted(choices, instants) if instants else None
    promised = (kind, condition)
    run = followed_run(model, choices, watched(model, condition), promised, most=most, deadline=deadline)
    lasts = run.orbit is not None or run.drift is not None
    if not lasts or (kind == "eventually" and not decided_at_instants(model, condition, kind)):
        return None
    seen = lap_truths(model, run, condition)
    late = kind == "eventually_always"
    broken = False in seen if late else not {True, None} & {*seen} and not _ever(model, condition, run)
    return Refuted(choices, run.instants, run) if broken else None


def violation(
    model: Model, choices: Choices, condition: Tree, *, wanted: bool, deadline: float, most: int = MOST_INSTANTS
) -> tuple[Instant, ...]:
    """Returns the instants up to the first at which the condition is not `wanted`; empty where none is in reach.

    A run that nears the edge of the condition, or of one that the model decides by, as much in each lap is followed
    until it is there; not one whose values come again after a lap.  One that does not recur is followed for FRESH
    times as many laps.
    """
    run, lap = Execution(model, choices), hyperperiod(model)
    instants: list[Instant] = []
    end, ahead, extensible = LAPS * lap + run.longest, most >= MOST_INSTANTS, most >= MOST_INSTANTS
    configurations = set[tuple[object, ...]]()
    ends = set[tuple[object, ...]]()
    while not is_over(deadline):
        if len(instants) >= most or (due := run.next_time()) > end:
            laps = laps_to_an_edge(run, instants, (condition,)) if ahead and len(instants) < most else 0
            if laps:
                end, most = end + laps * lap, MOST_DRIFTING
            elif extensible and len(instants) < most:
                end, extensible = FRESH * LAPS * lap + run.longest, False
                configurations.add(run.configuration(lap))
            else:
                return ()
            continue
        instant = run.advance(due)
        instants.append(instant)
        if ahead and not (instant.time - instants[0].time) % lap:
            ahead = (values := frozen(instant.after.values())) not in ends
            ends.add(values)
        if configurations and not (instant.time - instants[0].time) % lap:
            if (configuration := run.configuration(lap)) in configurations:
                return ()
            configurations.add(configuration)
        if not all(bool(truth) is wanted for truth in looked_at(run, instant, condition)):
            return tuple(instants)
    return ()


def watched(model: Model, condition: Tree) -> tuple[Tree, ...]:
    """Returns the condition, where it counts samples (`for h`, previous) and its streaks must recur with the run."""
    nodes = (node for tree in (condition, *model.outputs.values()) for node in walk(tree))
    counting = any(isinstance(n, Held) or (isinstance(n, Call) and n.function == "previous") for n in nodes)
    return (condition,) if counting else ()


def lap_truths(model: Model, run: LongRun, condition: Tree) -> list[bool | None]:
    """Returns the condition as sampled and after each instant of the orbit, or of each lap of a drift.

    Raises NotExactError where it is unknown.
    None: the run only closes in on values at which two sides of the condition are equal, and may stay beside them.
    """
    orbit = run.orbit
    if run.drift is not None:
        return [*run.drift.truths]
    assert orbit is not None
    if not orbit.exact:
        past = (isinstance(n, Held) or (isinstance(n, Call) and n.function in PAST) for n in walk(condition))
        if any(past) or model.outputs:
            raise NotExactError("an orbit that is only approached, under a condition on computed signals")
        still = Execution(model, run.choices)
        moments = [(instant.time, values) for instant in orbit.lap for values in (instant.sampled, instant.after)]
        views = [View(still, time, dict(values)) for time, values in moments]
        edges = _approached(run, condition)
        return [None if _touches(edges, view) else bool(evaluate(condition, view)) for view in views]
    return [truth for time, truth in truths(model, run, condition) if time >= orbit.lap[0].time]


def _approached(run: LongRun, condition: Tree) -> list[Compare]:
    """Returns the comparisons of a condition whose values on the orbit are not those of the last lap of the run."""
    orbit = run.orbit
    assert orbit is not None
    last = run.instants[-len(orbit.lap) :]
    compared = [node for node in walk(condition) if isinstance(node, Compare)]
    moved = {
        path
        for path in names_of(condition)
        if {instant.after.get(path) for instant in last} != {instant.after.get(path) for instant in orbit.lap}
    }
    return [node for node in compared if moved & {*names_of(node)}]


def _touches(comparisons: Sequence[Compare], view: View) -> bool:
    """Returns whether both sides of a comparison are equal."""
    return any(evaluate(node.left, view) == evaluate(node.right, view) for node in comparisons)


def truths(model: Model, run: LongRun, condition: Tree) -> Iterator[tuple[Fraction, bool]]:
    """Yields (time, condition) as sampled and after each instant of the run, executed again to have its past."""
    execution = Execution(model, run.choices)
    for _ in run.instants:
        instant = execution.advance()
        yield from ((instant.time, bool(truth)) for truth in looked_at(execution, instant, condition))


def _ever(model: Model, condition: Tree, run: LongRun) -> bool:
    return any(truth for _, truth in truths(model, run, condition))


def every_start(model: Model, condition: Tree, kind: str, deadline: float) -> Outcome:
    """Decides by running every start, where they are finitely many and each run recurs exactly.

    Every phase pattern and every order of equal rank is run.
    """
    if not decided_at_instants(model, condition, kind) and not is_watched(model):
        return Open("what it says of flowing states may change between the instants of a run", "")
    count, runs = 0, list[LongRun]()
    for start in finite(model, MOST_STARTS):
        for choices in every_choice(model, start):
            if is_over(deadline):
                return Open("the time limit", f"{count} starts keep the promise")
            run = whole_run(model, choices, (kind, condition), deadline)
            if run.orbit is None and is_over(deadline):
                return Open("the time limit", f"{count} starts keep the promise")
            if run.drift is None and (run.orbit is None or not run.orbit.exact):
                return Open("a run that does not recur exactly", f"{count} starts recur and keep the promise")
            if not keeps_for_ever(model, run, condition, kind):
                return Refuted(choices, run.instants, run)
            runs += [run] if len(runs) < MOST_CERTIFIED else []
        count += 1
    script = certificate(model, runs, (kind, condition)) if len(runs) < MOST_CERTIFIED else None
    return Proved(f"exact execution of {_starts(count)} to a recurrence", script, _assumed(model))


def whole_run(model: Model, choices: Choices, promised: tuple[str, Tree], deadline: float) -> LongRun:
    """Returns the run of one choice until it recurs or drifts, or comes to rest where nothing has a clock."""
    looked = watched(model, promised[1])
    if not is_clocked(model):
        return resting_run(model, choices, watched=looked, deadline=deadline)
    return followed_run(model, choices, looked, promised, deadline=deadline)


def _starts(count: int) -> str:
    return "its only start" if count == 1 else f"all {count} starts"


def _assumed(model: Model) -> tuple[str, ...]:
    orders = ("every phase; every order of equal rank, the same at every instant",) if len(model.loops) > 1 else ()
    sensors = any(loop.source.target and loop.source.target.sensor for loop in model.loops)
    return (*orders, *(("sensors sample at multiples of their period",) if sensors else ()))


def every_choice(model: Model, start: Choices) -> Iterator[Choices]:
    """Yields every phase pattern of a start with every order of loops of equal rank."""
    from coherence.verify.systems.instants import orders

    if not is_clocked(model):
        yield start
        return
    for schedule in schedules(model):
        for order in orders(model.loops):
            yield Choices(start.values, schedule.phases, tuple(loop.name for loop in order))


def keeps_for_ever(model: Model, run: LongRun, condition: Tree, kind: str) -> bool:
    """Decides whether a run that recurs exactly, or drifts, keeps the promise for ever."""
    if kind == "eventually_always":
        return all(lap_truths(model, run, condition))
    if kind == "eventually":
        return _ever(model, condition, run)
    execution, wanted = Execution(model, run.choices), kind == "always"
    if run.drift is not None and (not wanted) in run.drift.truths:
        return False
    for _ in run.instants:
        if not all(bool(truth) is wanted for truth in looked_at(execution, execution.advance(), condition)):
            return False
    return True
