"""Decides a promise over interacting loops: refutes it by exact runs, proves it by template invariants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coherence.base.clock import is_over, left_until, now, part_until
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Held, Logic, Tree, rename
from coherence.language.sentences import Promise
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.orbits import long_run
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.simulate.execute.slices import blocked, sliced
from coherence.simulate.execute.starts import corners, finite
from coherence.verify.promises.burst_runs import under_bursts
from coherence.verify.promises.certainty import POSSIBLE
from coherence.verify.promises.drifting_runs import with_drift
from coherence.verify.promises.edges_ahead import LAPS, MOST_INSTANTS
from coherence.verify.promises.even_flows import from_its_side, with_even_steps
from coherence.verify.promises.flow_watches import WATCH, is_watched, with_watch, with_watched
from coherence.verify.promises.outcomes import Open, Outcome, Proved, Refuted
from coherence.verify.promises.outside_signals import prepared
from coherence.verify.promises.refutations import (
    every_start,
    in_other_choices,
    lap_truths,
    refuted,
    violation,
    watched,
)
from coherence.verify.promises.run_choices import all_phases, in_every_order
from coherence.verify.systems.bent_flows import bent_flows
from coherence.verify.systems.cases import NotLinearError

if TYPE_CHECKING:
    from coherence.verify.promises.proofs import ConditionProof, ProofFailure
    from coherence.verify.systems.transitions import ModelReading

__all__ = ["LAPS", "MOST_INSTANTS", "Open", "Outcome", "Proved", "Refuted"]
__all__ += ["condition_of", "decide", "lap_truths", "part_of", "seen_from_its_side", "violation", "watched"]
GRACE = 0.5  # seconds for a last look when the time is over
EVERY_PHASE = "all phases of {}: what flows until its first sample is among the values from which it begins"
FEW_STARTS = 8  # of a loop alone: run before a proof is searched
MEETING = "in which loops and steps can meet"
METHOD = "template invariant, z3"
DESCENT = "shrinking template sets, z3"
QUADRATIC = "quadratic Lyapunov function in exact rationals, z3"


def condition_of(model: Model, promise: Promise) -> Tree:
    """Returns the promise's condition with full paths."""
    assert promise.condition is not None
    return rename(promise.condition.tree, model.resolve)


def seen_from_its_side(model: Model, promise: Promise) -> Promise:
    """Returns a promise that something comes to a value as that it passes it, for what flows there from one side."""
    assert promise.condition is not None
    condition = from_its_side(model, condition_of(model, promise), promise.kind)
    return replace(promise, condition=replace(promise.condition, tree=condition))


def part_of(model: Model, promise: Promise) -> Model:
    """Returns what the promise depends on, with the promise itself: what it reads of the past is to be remembered."""
    condition = condition_of(model, promise)
    assert promise.condition is not None
    read = replace(promise, condition=replace(promise.condition, tree=condition))
    flows = promise.kind in ("always", "never")
    clocked = with_even_steps(sliced(model, names_of(condition)), condition, flows=flows)
    return replace(with_watch(clocked, condition, promise.kind), promises={promise.name: read})


def decide(model: Model, promise: Promise, *, time_limit: float) -> Outcome:
    """Returns the outcome for one promise of kind always, never, eventually or eventually_always."""
    model = prepared(model, promise)
    promise = seen_from_its_side(model, promise)
    condition = condition_of(model, promise)
    part = part_of(model, promise)
    missing = blocked(model, names_of(condition))
    if missing:
        return Open(f"needs {missing}", "")
    deadline, condition = now() + time_limit, with_watched(part, condition, promise.kind)
    outcome = _outcome(part, promise, condition, deadline)
    waits = promise.condition if promise.kind == "never" and isinstance(outcome, Open) else None
    at_once = _without_waits(waits.tree) if waits is not None else None
    if waits is None or at_once is None or is_over(deadline):
        return outcome
    sooner = replace(promise, condition=replace(waits, tree=at_once))
    never = decide(model, sooner, time_limit=left_until(deadline))
    return never if isinstance(never, Proved) else outcome


def _without_waits(tree: Tree) -> Tree | None:
    """Returns the condition with what it waits for at once: `c for h` holds only where c does; None: no such wait."""
    match tree:
        case Held(condition=condition):
            return condition
        case Logic(op="and" | "or", terms=terms):
            sooner = tuple(_without_waits(term) for term in terms)
            either = tuple(new or old for new, old in zip(sooner, terms, strict=True))
            return replace(tree, terms=either) if any(sooner) else None
    return None


def _outcome(part: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    try:
        outcome = under_bursts(part, condition, promise.kind, deadline)
        return _whatever_is_open(part, outcome or _decided(part, promise, condition, deadline))
    except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError) as error:
        reason = f"needs {error}" if isinstance(error, MissingValueError) else f"not encoded: {error}"
        from coherence.verify.promises.enclosed_promises import by_enclosures  # only where numbers grow beyond use

        curved = isinstance(error, NotExactError)
        rested = by_enclosures(part, condition, promise.kind, deadline) if curved else None
        return Open(reason, "", curved) if rested is None else _whatever_is_open(part, rested)


def _decided(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    try:
        refutation = refuted(model, condition, promise.kind, deadline)
    except NotExactError:  # no run follows a curve, and rows enclose it
        wanted = promise.kind != "never"
        enclosed = (
            _throughout(model, condition, part_until(deadline, 1 / 2), wanted=wanted) if bent_flows(model) else None
        )
        if enclosed is None:
            raise
        return enclosed
    if refutation is not None:
        return refutation
    switching = next((state.path for state in model.states.values() if state.switch and state.path != WATCH), "")
    if switching:
        return Open(f"not proved: {switching} switches at crossings, which are executed only", "no run breaks it")
    if is_watched(model):
        return _by_every_start(model, promise, condition, deadline)
    lasting = promise.kind in ("always", "never")
    outcome: Outcome | ArithmeticError
    try:
        outcome = (_in_any_phase if lasting else _comes_or_runs)(model, promise, condition, deadline)
    except (NotLinearError, NotCommensurateError) as error:
        outcome = error
    if isinstance(outcome, Open | ArithmeticError) and not all_phases(model):
        broken = in_other_choices(model, condition, promise.kind, max(deadline, now() + GRACE))
        outcome = broken or outcome
    if isinstance(outcome, ArithmeticError):
        raise outcome
    return outcome


def _whatever_is_open(model: Model, outcome: Outcome) -> Outcome:
    """Returns the outcome for every value of what runs read at one end only."""
    facts = one_ended(model)
    if not facts or isinstance(outcome, Open):
        return outcome
    if isinstance(outcome, Refuted):
        return replace(outcome, certainty=POSSIBLE)
    names = ", ".join(facts)
    return Open(f"needs one value of {names}: a proof reads one end of a range", "it holds at the end that was read")


def _in_any_phase(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """Decides by proofs and runs; what clocks do not carry by a proof of a loop alone that begins at once."""
    try:
        return _prove_or_run(model, promise, condition, deadline)
    except (NotCommensurateError, NotLinearError):
        from coherence.verify.promises.any_phase import begun_at_once

        begun = begun_at_once(model, condition, wanted=promise.kind == "always")
        outcome = _prove_or_run(begun, promise, condition, deadline) if begun is not None else None
        if not isinstance(outcome, Proved):
            raise
        return replace(outcome, assumptions=(EVERY_PHASE.format(model.loops[0].name), *outcome.assumptions))


def _prove_or_run(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """Decides by invariants; by running every start, a loop alone from few of them and what the encoding lacks.

    Runs alone decide at once where they break the promise or carry a certificate; else a proof is searched first.
    """
    ran = _few_runs(model, promise, condition, deadline)
    if isinstance(ran, Refuted) or (isinstance(ran, Proved) and ran.certificate):
        return ran
    try:
        outcome = _prove(model, promise, deadline)
    except (NotLinearError, NotCommensurateError) as error:
        if ran is not None:
            return ran
        try:
            return every_start(model, condition, promise.kind, deadline)
        except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError):
            raise error from None
    return ran if ran is not None and isinstance(outcome, Open) else outcome


def _by_every_start(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """Decides by every run.  Raises NotLinearError where they are not finitely many: proofs look at instants alone."""
    try:
        return every_start(model, condition, promise.kind, deadline)
    except NotExactError as error:
        reason = "what the promise says of flowing states may change between the instants"
        raise NotLinearError(f"{reason}, and runs do not decide it: {error}") from None


def _few_runs(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome | None:
    """Decides by every run of few starts: of a loop without a plant, of several loops, or of values that grow for ever.

    Where runs recur soon that is cheaper than a search for an invariant, which several loops need for each order in
    which they meet; templates have none for what grows.
    """
    try:
        first = next(finite(model, FEW_STARTS), None)  # raises where there are more
        alone = len(model.loops) == 1 and not model.states
        longer = first is not None and (
            alone or _grows(model, first, promise.kind, condition, part_until(deadline, 1 / 8))
        )
        if first is None or not (longer or len(model.loops) > 1):
            return None
        ran = every_start(model, condition, promise.kind, part_until(deadline, 1 / 4 if longer else 1 / 8))
    except (NotExactError, MissingValueError, NotCommensurateError, NotLinearError):
        return None
    return None if isinstance(ran, Open) else ran


def _grows(model: Model, choices: Choices, kind: str, condition: Tree, deadline: float) -> bool:
    """Decides whether a run is shown to grow by as much in each lap for ever."""
    run = long_run(model, choices, laps=LAPS, most=MOST_INSTANTS, watched=watched(model, condition), deadline=deadline)
    return with_drift(model, run, condition, kind).drift is not None


def _comes_or_runs(model: Model, promise: Promise, condition: Tree, deadline: float) -> Outcome:
    """Decides by running every start if they are finitely many and recur; else by a chain of sets into the goal."""
    from coherence.verify.convergence.liveness import comes

    ran: Outcome | NotExactError | MissingValueError | NotCommensurateError
    try:
        ran = every_start(model, condition, promise.kind, part_until(deadline, 1 / 2))
    except (NotExactError, MissingValueError, NotCommensurateError) as error:
        ran = error
    if isinstance(ran, Refuted | Proved):
        return ran
    always = _throughout(model, condition, part_until(deadline, 1 / 3))
    if always is not None:
        return always
    try:
        descent = comes(model, condition, stays=promise.kind == "eventually_always", deadline=deadline)
    except (NotLinearError, NotCommensurateError) as error:
        if isinstance(ran, Open):
            return Open(f"{ran.reason}; not encoded: {error}", ran.bound)
        raise
    if isinstance(descent, str):
        open_ = (
            ran
            if isinstance(ran, Open)
            else Open("", f"no run of {LAPS} periods from the ends of the ranges breaks it")
        )
        return Open(f"no chain of shrinking sets found: {descent}", open_.bound)
    certificate = "(reset)\n".join(descent.certificates)
    bound = f"within {float(descent.within):g} s"
    method = QUADRATIC if descent.quadratic else DESCENT
    return Proved(method, certificate, ("every phase, start and order", bound, *_relaxations(descent.readings)))


def _throughout(model: Model, condition: Tree, deadline: float, *, wanted: bool = True) -> Proved | None:
    """Returns a proof that a condition is `wanted` from the start on, so that it also comes; None: there is none."""
    from coherence.verify.promises.proofs import ConditionProof, proof_of

    try:
        proof = proof_of(model, condition, wanted=wanted, deadline=deadline)
    except (NotLinearError, NotCommensurateError):
        return None
    return _held(proof, (), ()) if isinstance(proof, ConditionProof) else None


def _prove(model: Model, promise: Promise, deadline: float) -> Outcome:
    from coherence.verify.promises.contracts import parts, within_bounds
    from coherence.verify.promises.proofs import ProofFailure, proof_of

    wanted, condition = promise.kind == "always", condition_of(model, promise)
    bounded = within_bounds(model, condition, wanted=wanted, deadline=part_until(deadline, 1 / 8))
    if bounded is not None:
        return _held(bounded.held, (), (f"only that {', '.join(contract.text for contract in bounded.contracts)}",))
    many = len(model.loops) > FEW_LOOPS
    apart = _by_parts(model, condition, wanted=wanted, deadline=deadline) if many else None
    if isinstance(apart, Proved):
        return apart
    few = not many and len(parts(model)) > 1
    left = left_until(deadline)
    until = deadline - (left / 3 if few else left / 8)  # the rest is for the parts, or for what an open answer tells
    proof = proof_of(model, condition, wanted=wanted, deadline=until)
    if isinstance(proof, ProofFailure):
        again = None if not few else _by_parts(model, condition, wanted=wanted, deadline=deadline)
        return again or _other_phases(model, promise, proof, deadline)
    return _held(proof, (), ())


FEW_LOOPS = 3  # more of them are taken part by part first


def _by_parts(model: Model, condition: Tree, *, wanted: bool, deadline: float) -> Proved | None:
    """Returns a proof with intervals promised between the strongly connected parts of the model."""
    from coherence.verify.promises.contracts import ByParts, by_parts

    try:
        proof = by_parts(model, condition, wanted=wanted, deadline=part_until(deadline, 2 / 3))
    except (NotLinearError, NotCommensurateError):
        return None
    if not isinstance(proof, ByParts):
        return None
    contracts = "between the parts of the design: " + ", ".join(contract.text for contract in proof.contracts)
    return _held(proof.held, proof.certificates, (contracts,) if proof.contracts else ())


def _held(proof: ConditionProof, certificates: tuple[str, ...], assumptions: tuple[str, ...]) -> Proved:
    orders = "one order of the instants" if proof.orders == 1 else f"each of the {proof.orders} orders {MEETING}"
    orders = "a clock for each loop and step" if proof.clocks else orders
    certificate = "(reset)\n".join((*certificates, *proof.certificates))
    assumed = (f"all phases: {orders}", *_relaxations(proof.readings), *assumptions)
    return Proved(METHOD, certificate, assumed, touching=proof.touching)


def _relaxations(readings: tuple[ModelReading, ...]) -> tuple[str, ...]:
    """Returns what the readings of a proof relaxed."""
    apart = tuple(dict.fromkeys(path for reading in readings for path, _ in reading.discrete))
    exact = all(reading.discrete for reading in readings)
    values = f"values of {', '.join(apart)} told apart" if exact else "integers relaxed to reals"
    held = ("a held value is any between what is wanted and what is commanded",)
    return (values, *(held if any(not reading.windows for reading in readings) else ()))


def _other_phases(model: Model, promise: Promise, stopped: ProofFailure, deadline: float) -> Outcome:
    """Searches for a run that breaks the promise at the pattern of phases at which the proof stopped."""
    from coherence.verify.promises.provable_limit import advice, nearest

    condition, phases = condition_of(model, promise), stopped.phases
    seen = tuple(in_every_order(model, stopped.suspect)) if stopped.suspect is not None else ()
    for number, moved in enumerate((*seen, *(Choices(choices.values, phases) for choices in corners(model)))):
        if number > len(seen) and is_over(deadline):
            break
        instants = violation(
            model, moved, condition, wanted=promise.kind == "always", deadline=max(deadline, now() + GRACE)
        )
        if instants:
            return Refuted(moved, instants)
    pattern = ", ".join(f"{name} at {float(phase):g} s" for name, phase in phases.items() if phase) or "all phases 0"
    ran = f"no run of {LAPS} periods from the ends of the ranges breaks it ({pattern})"
    near = nearest(model, condition, wanted=promise.kind == "always", seconds=left_until(deadline))
    return Open(f"no invariant found: {stopped.reason}; {advice(model, stopped)}", f"{ran}; {near}" if near else ran)
