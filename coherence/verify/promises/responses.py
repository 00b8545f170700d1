"""Decides `after a then b within t` over loops and plants: refutes by exact runs, proves with a counted wait.

`a` and `b` are conditions.  Every time at which `a` holds asks for a time at which `b` holds, at that time or
at most t later: both ends count, as all windows do.  A loop's name is the condition that it is triggered.
What still waits is part of the state of a proof, told apart by how long it has waited.
SOURCE: bounded response as safety; Henzinger, Manna, Pnueli, Temporal proof methodologies for timed transition
systems, Information and Computation 112 (1994).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import is_over, now, part_until
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Logic
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse, ResponseSample, Wait, Waiting, observed, waits
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.orbits import LongRun, hyperperiod, long_run
from coherence.simulate.execute.schedules import NotCommensurateError, schedules
from coherence.simulate.execute.slices import blocked, signals_in, sliced
from coherence.simulate.execute.starts import corners, finite
from coherence.verify.promises.certainty import POSSIBLE, Certainty, certainty
from coherence.verify.promises.edges_ahead import LAPS, MOST_INSTANTS
from coherence.verify.promises.outcomes import Open, Proved
from coherence.verify.promises.refutations import MOST_CERTIFIED, MOST_STARTS
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.instants import orders

GRACE = 0.5  # seconds for a last look when the time is over
WITHIN = 4  # times the promised time, in which a run is to come round again
COUNTED = "template invariant with a counted wait, z3"


@dataclass(frozen=True)
class Late:
    """A run in which an answer does not come in time: since when it is due."""

    choices: Choices
    instants: tuple[Instant, ...]
    since: Fraction
    certainty: Certainty = POSSIBLE


@dataclass(frozen=True)
class Never:
    """No run ever asks: the first condition never holds."""

    shown: Proved


Answered = Late | Proved | Never | Open


def part_of(model: Model, promise: Promise, response: BoundedResponse) -> Model:
    """Returns what the response depends on, with the conditions: what they read of the past is to be remembered."""
    either = Formula(Logic("or", response.trees), promise.text, promise.place)
    read = replace(promise, kind="always", condition=either, after=None, then=None)
    return replace(sliced(model, names_of(either.tree)), promises={promise.name: read})


def answered(model: Model, promise: Promise, response: BoundedResponse, *, time_limit: float) -> Answered:
    """Returns the outcome for one response."""
    part = part_of(model, promise, response)
    used = names_of(Logic("or", response.trees))
    missing = blocked(model, used)
    if missing:
        return Open(f"needs {missing}", "")
    if any(s.flow is not None for p, s in part.states.items() if any(p in signals_in(part, t) for t in response.trees)):
        return Open("a condition on a flowing state may change between the instants of a run", "")
    deadline = now() + time_limit
    try:
        return _for_every_value(part, _decided(part, response, deadline))
    except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError) as error:
        reason = f"needs {error}" if isinstance(error, MissingValueError) else f"not encoded: {error}"
        return Open(reason, "")


def _for_every_value(model: Model, outcome: Answered) -> Answered:
    """Returns the outcome for every value of what runs read at one end only."""
    facts = one_ended(model)
    if not facts or isinstance(outcome, Open):
        return outcome
    if isinstance(outcome, Late):
        return replace(outcome, certainty=POSSIBLE)
    return Open(f"needs one value of {', '.join(facts)}: a proof reads one end of a range", "it holds at one end")


def _decided(model: Model, response: BoundedResponse, deadline: float) -> Answered:
    late, asks = _from_corners(model, response, deadline)
    if late is not None:
        return late
    try:
        return _from_every_start(model, response, part_until(deadline, 1 / 2))
    except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError):
        return _by_proof(model, response, deadline, asks=asks)


# -- runs -------------------------------------------------------------------------------------------------


def _from_corners(model: Model, response: BoundedResponse, deadline: float) -> tuple[Late | None, bool]:
    """Returns the first run from an end of the ranges that answers too late, and whether any of them asks."""

    def broken_after(choices: Choices) -> int:
        late, _ = _run(model, choices, response, deadline)
        return len(late.instants) if late is not None else 0

    any_asks = False
    for number, choices in enumerate(corners(model)):
        if number and is_over(deadline):
            break
        late, run_asks = _run(model, choices, response, deadline)
        any_asks = any_asks or run_asks
        if late is not None and number == 0:
            return replace(late, certainty=certainty(model, broken_after, deadline, (response.within,))), True
        if late is not None:
            return late, True
    return None, any_asks


def _run(model: Model, choices: Choices, response: BoundedResponse, deadline: float) -> tuple[Late | None, bool]:
    run, waiting, asks = Execution(model, choices), Waiting(response.within), False
    instants: list[Instant] = []
    end = LAPS * hyperperiod(model) + response.within + run.longest
    while len(instants) < MOST_INSTANTS and (len(instants) == 0 or not is_over(deadline)):
        if waiting.late(run.next_time()):
            assert waiting.since is not None
            return Late(choices, tuple(instants), waiting.since), True
        if run.next_time() > end:
            break
        instants.append(run.advance())
        for seen in observed(run, instants[-1], response):
            asks = asks or seen.first
            waiting.see(seen)
    return None, asks


def _from_every_start(model: Model, response: BoundedResponse, deadline: float) -> Answered:
    """Runs every start, phase pattern and order to its recurrence.  Raises NotExactError where that is not all."""
    runs, count, any_asks = list[LongRun](), 0, False
    laps = max(LAPS, math.ceil(WITHIN * response.within / hyperperiod(model)))
    for start in finite(model, MOST_STARTS):
        for choices in _choices(model, start, response.within):
            if is_over(deadline):
                raise NotExactError("the time limit")
            run = long_run(model, choices, laps=laps, most=MOST_INSTANTS, watched=response.trees)
            wait, run_asks = _first_unanswered(model, run, response)
            if wait is not None:
                return Late(choices, _until(model, run, wait, response.within), wait.since)
            any_asks = any_asks or run_asks
            runs += [run] if len(runs) < MOST_CERTIFIED else []
        count += 1
    return _proved(model, response, runs, count, asks=any_asks)


def _proved(model: Model, response: BoundedResponse, runs: list[LongRun], count: int, *, asks: bool) -> Proved | Never:
    script = None
    if len(runs) < MOST_CERTIFIED:
        never = None if asks else ("never", response.first)
        script = certificate(model, runs, never, response=response if asks else None)
    starts = "its only start" if count == 1 else f"all {count} starts"
    assumed = ("every phase; every order of equal rank, the same at every instant",) if len(model.loops) > 1 else ()
    shown = Proved(f"exact execution of {starts} to a recurrence", script, assumed)
    return shown if asks else Never(shown)


def _choices(model: Model, start: Choices, within: Fraction) -> Iterator[Choices]:
    for schedule in schedules(model, (within,)):
        for order in orders(model.loops):
            yield Choices(start.values, schedule.phases, tuple(loop.name for loop in order))


def _first_unanswered(model: Model, run: LongRun, response: BoundedResponse) -> tuple[Wait | None, bool]:
    """Returns the first wait of a run that recurs which is not answered in time, and whether anything is asked."""
    orbit = run.orbit
    if orbit is None or not orbit.exact:
        raise NotExactError("a run that does not recur exactly")
    execution, seen, lap = Execution(model, run.choices), list[ResponseSample](), 0
    for _ in run.instants:
        instant = execution.advance()
        if instant.time == orbit.lap[0].time:
            lap = len(seen)
        seen += observed(execution, instant, response)
    open_waits = waits(seen, lap, orbit.period, response.within)
    return next((wait for wait in open_waits if wait.served is None), None), any(sight.first for sight in seen)


def _until(model: Model, run: LongRun, wait: Wait, within: Fraction) -> tuple[Instant, ...]:
    """Returns the instants until the time for an answer is over."""
    execution, instants = Execution(model, run.choices), list[Instant]()
    while execution.next_time() <= wait.since + within:
        instants.append(execution.advance())
    return tuple(instants)


# -- proofs ------------------------------------------------------------------------------------------------


def _by_proof(model: Model, response: BoundedResponse, deadline: float, *, asks: bool) -> Answered:
    from coherence.verify.promises.counted import held_in_time
    from coherence.verify.promises.proofs import ConditionProof, proof_of

    if not asks:
        quiet = proof_of(model, response.first, wanted=False, deadline=part_until(deadline, 1 / 3))
        if isinstance(quiet, ConditionProof):
            return Never(
                Proved("template invariant, z3", "(reset)\n".join(quiet.certificates), _order_assumption(quiet.orders))
            )
    certificates = held_in_time(model, response, part_until(deadline, 7 / 8))
    if isinstance(certificates, str):
        late = _other_phases(model, response, max(deadline, now() + GRACE))
        return late or Open(
            f"no proof found: {certificates}", f"no run of {LAPS} periods from the ends of the ranges is late"
        )
    return Proved(COUNTED, "(reset)\n".join(certificates), _order_assumption(len(certificates)))


def _other_phases(model: Model, response: BoundedResponse, deadline: float) -> Late | None:
    """Returns a run from an end of the ranges that is late at phases other than 0."""
    for schedule in schedules(model, (response.within,)):
        for choices in corners(model):
            if is_over(deadline):
                return None
            late, _ = _run(model, Choices(choices.values, schedule.phases), response, deadline)
            if late is not None:
                return late
    return None


def _order_assumption(count: int) -> tuple[str, ...]:
    if count == 1:
        return ("all phases: one order of the instants",)
    return (f"all phases: each of the {count} orders in which loops and steps can meet",)
