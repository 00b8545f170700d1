"""Deciding a promise over interacting loops: refute by exact runs, prove by template invariants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.expressions import names as names_of
from coherence.expressions.evaluate import NotExactError, evaluate
from coherence.expressions.tree import Call, Tree, rename, walk
from coherence.model import Model
from coherence.phrases import Promise
from coherence.simulate.exact import LOOK_BACK, Choices, Execution, Instant, MissingValueError, View
from coherence.simulate.orbits import LongRun, hyperperiod, long_run
from coherence.simulate.slices import blocked, sliced
from coherence.simulate.starts import corners, finite
from coherence.values import value
from coherence.verify.between import told_by_instants
from coherence.verify.cases import NotLinearError
from coherence.verify.clock import now
from coherence.verify.schedules import NotCommensurateError, schedules

if TYPE_CHECKING:
    from coherence.verify.proofs import Held, NotHeld
    from coherence.verify.transitions import Reading

LAPS, MOST_INSTANTS, MOST_STARTS = 120, 6_000, 2_000
GRACE = 0.5  # seconds for a last look when the time is over
METHOD = "template invariant, z3"
DESCENT = "shrinking template sets, z3"


@value
class Refuted:
    """A run that breaks the promise: its choices, its instants, and its orbit where it breaks it for ever.

    `everywhere`: the runs from all ends of the ranges break it too.
    """

    choices: Choices
    instants: tuple[Instant, ...]
    run: LongRun | None = None
    everywhere: bool = False


@value
class Shown:
    """The promise holds: how, over what, and the SMT-LIB certificate where a solver was used."""

    method: str
    certificate: str | None
    assumptions: tuple[str, ...]
    touching: bool = False


@value
class Open:
    """Neither; the reason, and how far the search went."""

    reason: str
    bound: str


Outcome = Refuted | Shown | Open


def condition_of(model: Model, promise: Promise) -> Tree:
    """The promise's condition with full paths."""
    assert promise.condition is not None
    return rename(promise.condition.tree, model.resolve)


def decide(model: Model, promise: Promise, *, time_limit: float) -> Outcome:
    """The outcome for one promise of kind always, never, eventually or eventually_always."""
    condition = condition_of(model, promise)
    part = sliced(model, names_of(condition))
    missing = blocked(model, names_of(condition))
    if missing:
        return Open(f"needs {missing}", "")
    deadline = now() + time_limit
    try:
        refuted = _refute(part, condition, promise.kind, deadline)
        if refuted is not None:
            return refuted
        if promise.kind in ("always", "never"):
            return _prove_or_run(part, promise, condition, deadline)
        return _comes_or_runs(part, promise, condition, deadline)
    except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError) as error:
        reason = f"needs {error}" if isinstance(error, MissingValueError) else f"not encoded: {error}"
        return Open(reason, "")


def _prove_or_run(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """By invariants; where the encoding does not carry the model, by running every start if they are finitely many."""
    try:
        return _prove(model, promise, deadline)
    except (NotLinearError, NotCommensurateError) as error:
        try:
            return _finite(model, condition, promise.kind, deadline)
        except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError):
            raise error from None


def _comes_or_runs(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """By running every start if they are finitely many and recur; else by a chain of sets that shrink into the goal."""
    from coherence.verify.liveness import comes

    ran: Outcome | NotExactError | MissingValueError
    try:
        ran = _finite(model, condition, promise.kind, now() + (deadline - now()) / 2)
    except (NotExactError, MissingValueError) as error:
        ran = error
    if isinstance(ran, Refuted | Shown):
        return ran
    try:
        found = comes(model, condition, stays=promise.kind == "eventually_always", deadline=deadline)
    except (NotLinearError, NotCommensurateError) as error:
        if isinstance(ran, Open):
            return Open(f"{ran.reason}; not encoded: {error}", ran.bound)
        raise
    if isinstance(found, str):
        told = (
            ran
            if isinstance(ran, Open)
            else Open("", f"no run of {LAPS} periods from the ends of the ranges breaks it")
        )
        return Open(f"no chain of shrinking sets found: {found}", told.bound)
    certificate = "(reset)\n".join(found.certificates)
    bound = f"within {float(found.within):g} s"
    return Shown(DESCENT, certificate, ("every phase, start and order", bound, *_told(found.readings)))


def _refute(model: Model, condition: Tree, kind: str, deadline: float) -> Refuted | None:
    """The first corner whose run breaks the promise."""
    first, count, broken = None, 0, 0
    for choices in corners(model):
        if count and now() > deadline:
            break
        found = _breaks(model, choices, condition, kind, deadline)
        first, count, broken = first or found, count + 1, broken + (found is not None)
    return replace(first, everywhere=broken == count) if first else None


def _breaks(model: Model, choices: Choices, condition: Tree, kind: str, deadline: float) -> Refuted | None:
    if kind in ("always", "never"):
        instants = violation(model, choices, condition, wanted=kind == "always", deadline=deadline)
        return Refuted(choices, instants) if instants else None
    run = long_run(model, choices, laps=LAPS, most=MOST_INSTANTS)
    if run.orbit is None or (kind == "eventually" and not told_by_instants(model, condition, kind)):
        return None
    seen = lap_truths(model, run, condition)
    broken = not all(seen) if kind == "eventually_always" else not any(seen) and not _ever(model, condition, run)
    return Refuted(choices, run.instants, run) if broken else None


def violation(model: Model, choices: Choices, condition: Tree, *, wanted: bool, deadline: float) -> tuple[Instant, ...]:
    """The instants up to the first at which the condition is not `wanted`; empty where none is in reach."""
    run = Execution(model, choices)
    made: list[Instant] = []
    end = LAPS * _lap(model)
    while len(made) < MOST_INSTANTS and run.next_time() <= end and now() < deadline:
        instant = run.advance()
        made.append(instant)
        for values in (instant.sampled, instant.after):
            if bool(evaluate(condition, View(run, run.time, dict(values)))) is not wanted:
                return tuple(made)
    return ()


def _lap(model: Model) -> Fraction:
    return hyperperiod(model)


def lap_truths(model: Model, run: LongRun, condition: Tree) -> list[bool]:
    """The condition after each instant of the orbit.  Raises NotExactError where it cannot be known."""
    orbit = run.orbit
    assert orbit is not None
    if not orbit.exact:
        if any(isinstance(node, Call) and node.function in LOOK_BACK for node in walk(condition)) or model.outputs:
            raise NotExactError("an orbit that is only approached, under a condition on computed signals")
        still = Execution(model, run.choices)
        return [bool(evaluate(condition, View(still, i.time, dict(i.after)))) for i in orbit.lap]
    return [truth for time, truth in truths(model, run, condition) if time >= orbit.lap[0].time]


def truths(model: Model, run: LongRun, condition: Tree) -> Iterator[tuple[Fraction, bool]]:
    """(time, condition) after each instant of the run, executed again so that the past is there."""
    execution = Execution(model, run.choices)
    for _ in run.instants:
        instant = execution.advance()
        yield instant.time, bool(evaluate(condition, View(execution, instant.time, dict(instant.after))))


def _ever(model: Model, condition: Tree, run: LongRun) -> bool:
    return any(truth for _, truth in truths(model, run, condition))


def _prove(model: Model, promise: Promise, deadline: float) -> Outcome:
    from coherence.verify.contracts import parts
    from coherence.verify.proofs import NotHeld, proof_of

    wanted, condition = promise.kind == "always", condition_of(model, promise)
    many = len(model.loops) > FEW_LOOPS
    apart = _by_parts(model, condition, wanted=wanted, deadline=deadline) if many else None
    if isinstance(apart, Shown):
        return apart
    few = not many and len(parts(model)) > 1
    left = deadline - now()
    until = deadline - (left / 3 if few else left / 8)  # the rest is for the parts, or for what an open answer tells
    found = proof_of(model, condition, wanted=wanted, deadline=until)
    if isinstance(found, NotHeld):
        again = None if not few else _by_parts(model, condition, wanted=wanted, deadline=deadline)
        return again or _other_phases(model, promise, found, deadline)
    return _held(found, (), ())


FEW_LOOPS = 3  # more of them are taken part by part first


def _by_parts(model: Model, condition: Tree, *, wanted: bool, deadline: float) -> Shown | None:
    """A proof with intervals promised between the strongly connected parts of the model."""
    from coherence.verify.contracts import ByParts, by_parts

    try:
        found = by_parts(model, condition, wanted=wanted, deadline=deadline - (deadline - now()) / 3)
    except (NotLinearError, NotCommensurateError):
        return None
    if not isinstance(found, ByParts):
        return None
    told = "between the parts of the design: " + ", ".join(contract.text for contract in found.contracts)
    return _held(found.held, found.certificates, (told,) if found.contracts else ())


def _held(found: Held, certificates: tuple[str, ...], assumptions: tuple[str, ...]) -> Shown:
    orders = (
        "one order of the instants"
        if found.orders == 1
        else f"each of the {found.orders} orders in which loops and steps can meet"
    )
    certificate = "(reset)\n".join((*certificates, *found.certificates))
    told = (f"all phases: {orders}", *_told(found.readings), *assumptions)
    return Shown(METHOD, certificate, told, touching=found.touching)


def _told(readings: tuple[Reading, ...]) -> tuple[str, ...]:
    """What the readings of a proof relaxed."""
    apart = tuple(dict.fromkeys(path for reading in readings for path, _ in reading.discrete))
    exact = all(reading.discrete for reading in readings)
    told = f"values of {', '.join(apart)} told apart" if exact else "integers relaxed to reals"
    held = ("a held value is any between what is wanted and what is commanded",)
    return (told, *(held if any(not reading.windows for reading in readings) else ()))


def _other_phases(model: Model, promise: Promise, stopped: NotHeld, deadline: float) -> Outcome:
    """Where the proof stops at one pattern of phases, look for a run that breaks the promise there."""
    from coherence.verify.nearest import advice, nearest

    condition, phases = condition_of(model, promise), stopped.phases
    for number, choices in enumerate(corners(model)):
        if number and now() > deadline:
            break
        moved = Choices(choices.values, phases)
        found = violation(
            model, moved, condition, wanted=promise.kind == "always", deadline=max(deadline, now() + GRACE)
        )
        if found:
            return Refuted(moved, found)
    told = ", ".join(f"{name} at {float(phase):g} s" for name, phase in phases.items() if phase) or "all phases 0"
    ran = f"no run of {LAPS} periods from the ends of the ranges breaks it ({told})"
    near = nearest(model, condition, wanted=promise.kind == "always", seconds=deadline - now())
    return Open(f"no invariant found: {stopped.reason}; {advice(model, stopped)}", f"{ran}; {near}" if near else ran)


def _finite(model: Model, condition: Tree, kind: str, deadline: float) -> Outcome:
    """Decide where every start is one of finitely many and each run recurs exactly: then a run is known for ever.

    Every phase pattern and every order of equal rank is run.
    """
    if not told_by_instants(model, condition, kind):
        return Open("what it says of flowing states may change between the instants of a run", "")
    count = 0
    for start in finite(model, MOST_STARTS):
        for choices in _choices(model, start):
            if now() > deadline:
                return Open("the time limit", f"{count} starts keep the promise")
            run = long_run(model, choices, laps=LAPS, most=MOST_INSTANTS)
            if run.orbit is None or not run.orbit.exact:
                return Open("a run that does not recur exactly", f"{count} starts recur and keep the promise")
            if not _kept(model, run, condition, kind):
                return Refuted(choices, run.instants, run)
        count += 1
    assumptions = ("every phase; every order of equal rank, the same at every instant",) if len(model.loops) > 1 else ()
    sensors = any(loop.source.target and loop.source.target.sensor for loop in model.loops)
    starts = "its only start" if count == 1 else f"all {count} starts"
    return Shown(
        f"exact execution of {starts} to a recurrence",
        None,
        (*assumptions, *(("sensors sample at multiples of their period",) if sensors else ())),
    )


def _choices(model: Model, start: Choices) -> Iterator[Choices]:
    """Every phase pattern of a start with every order of loops of equal rank."""
    from coherence.verify.transitions import orders

    for schedule in schedules(model):
        for order in orders(model.loops):
            yield Choices(start.values, schedule.phases, tuple(loop.name for loop in order))


def _kept(model: Model, run: LongRun, condition: Tree, kind: str) -> bool:
    """Does a run that recurs exactly keep the promise for ever?"""
    if kind == "eventually_always":
        return all(lap_truths(model, run, condition))
    if kind == "eventually":
        return _ever(model, condition, run)
    execution, wanted = Execution(model, run.choices), kind == "always"
    for _ in run.instants:
        instant = execution.advance()
        for values in (instant.sampled, instant.after):
            if bool(evaluate(condition, View(execution, instant.time, dict(values)))) is not wanted:
                return False
    return True
