"""Proves `always` and `never` for every order of instants, reading the model more closely until a proof stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import is_over, left_until
from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.schedules import PhasePattern
from coherence.verify.invariants.proof import InvariantProof, Unproved
from coherence.verify.invariants.prover import STEPS, prove
from coherence.verify.invariants.smtlib import Invariant, obligations
from coherence.verify.systems.affine_between_instants import decided_at_instants
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.clocks import AnyOrder, ClockedEncoder, encoder_of, patterns
from coherence.verify.systems.model_readings import readings
from coherence.verify.systems.piecewise_affine import Constraint, LinearForm, TransitionSystem
from coherence.verify.systems.transitions import Encoder, ModelReading

CLOSED_MS, MARGIN_SECONDS = 300, 1.0
LOOSE = Fraction(1, 1000)
FIRST_SHARE, LEAST_SECONDS = 0.25, 3.0  # of the time that is left, for a first try of each reading; but no less
LATE = "the time is over"


@dataclass(frozen=True, slots=True)
class ConditionProof:
    """The condition holds in every run: certificates, the readings used, whether a proof needs an excluded end.

    `clocks`: one proof of clocks that show any time, not one for each order.
    """

    certificates: tuple[str, ...]
    readings: tuple[ModelReading, ...]
    touching: bool
    clocks: bool = False

    @property
    def orders(self) -> int:
        """Returns how many orders of the instants were proved."""
        return len(self.certificates)


@dataclass(frozen=True, slots=True)
class ProofFailure:
    """No proof: at which phases the search stopped, why, after how many orders that were proved.

    `suspect`: choices of a run that is bad in floats.
    """

    phases: dict[str, Fraction]
    reason: str
    proved: int
    late: bool = False
    suspect: Choices | None = None


def proof_of(
    model: Model,
    condition: Tree,
    *,
    wanted: bool,
    deadline: float,
    free: frozenset[str] = frozenset(),
    loose: frozenset[str] = frozenset(),
) -> ConditionProof | ProofFailure:
    """Returns a proof that the condition is `wanted` at every instant of every run, or where the search stopped.

    `free` and `loose`: modes and signals of other parts, as `Encoder` takes them.
    Raises NotLinearError, NotCommensurateError where no reading carries the model.
    """
    if not decided_at_instants(model, condition, "always" if wanted else "never"):
        raise NotLinearError("what the promise says of flowing states may change between the instants")
    ways = readings(model)
    certificates: list[str] = []
    used: list[ModelReading] = []
    touching = clocks = False

    def encode(schedule: PhasePattern, reading: ModelReading) -> Encoder:
        return encoder_of(schedule)(
            model, schedule, condition, wanted=wanted, reading=reading, free=free, loose=loose, deadline=deadline
        )

    for schedule in patterns(model):
        proof_or_stop = _proof_by_reading(schedule, ways, encode, deadline)
        if isinstance(proof_or_stop, ProofFailure):
            return replace(proof_or_stop, proved=len(certificates))
        reading, proof, system = proof_or_stop
        ways = [reading, *(way for way in ways if way != reading)]  # what worked once comes first
        certificates.append(proof.certificate)
        used.append(reading)
        clocks = isinstance(schedule, AnyOrder)
        touching = touching or (len(used) == 1 and needs_open_end(system, proof.invariant, MARGIN_SECONDS))
    return ConditionProof(tuple(certificates), tuple(dict.fromkeys(used)), touching, clocks)


Encode = Callable[[PhasePattern, ModelReading], Encoder]


def _proof_by_reading(
    schedule: PhasePattern, ways: list[ModelReading], encode: Encode, deadline: float
) -> tuple[ModelReading, InvariantProof, TransitionSystem] | ProofFailure:
    refused: NotLinearError | None = None
    reason, suspect = "", None
    done: list[ModelReading] = []  # that cannot, however long they are given
    for reading, share in [*((way, FIRST_SHARE) for way in ways), *((way, 1.0) for way in ways)]:
        left = left_until(deadline)
        if left <= 0:
            return ProofFailure(schedule.phases, reason or LATE, 0, late=True, suspect=suspect)
        if reading in done:
            continue
        try:
            encoder = encode(schedule, reading)
            system = encoder.system()
        except NotLinearError as error:
            refused = refused or error
            done.append(reading)
            continue
        steps = STEPS * encoder.lengthening
        answer = prove(system, time_limit=max(left * share, min(left, LEAST_SECONDS)), steps=steps)
        if isinstance(answer, InvariantProof):
            return reading, answer, system
        if answer.suspect and reading.windows and suspect is None:
            suspect = suspect_run(encoder, answer)
        if answer.reason != LATE:
            done.append(reading)
        reason = _why(answer, reading)
    if not reason and refused is not None:
        raise refused
    return ProofFailure(schedule.phases, reason, 0, late=is_over(deadline), suspect=suspect)


def suspect_run(encoder: Encoder, answer: Unproved) -> Choices:
    """Returns the choices of a run that seems bad in floats, rounded, for the exact executor to repeat."""
    model, plan = encoder.model, encoder.plan
    ranges = {path: signal.initial for table in (model.states, model.commands) for path, signal in table.items()}
    ranges |= {path: constant.range for path, constant in model.constants.items()}
    start = dict(zip(encoder.variables, answer.start, strict=True))
    values = {p: ranges[p].clip(x) for p, x in start.items() if p in ranges}
    if isinstance(encoder, ClockedEncoder):
        return Choices(values, encoder.phases_from(start))
    count, varying = len(plan.moments), encoder.varying
    course = [
        (k // count * plan.hyperperiod + plan.moments[k % count].time, path, ranges[path].clip(value))
        for k, chosen in enumerate(answer.chosen)
        for path, value in zip(varying, chosen, strict=False)  # the choices of an edge begin with what varies
    ]
    return Choices(values, encoder.phases, (), tuple(course))


def _why(answer: Unproved, reading: ModelReading) -> str:
    values = (
        "" if not reading.discrete else f", with the values of {', '.join(p for p, _ in reading.discrete)} told apart"
    )
    return f"{answer.reason}{values}"


def needs_open_end(system: TransitionSystem, invariant: Invariant, seconds: float) -> bool:
    """Decides whether there is no margin at all (x < 80 that is approached and never reached).

    Only where the proof stands on an excluded end, and a run in floats is bad once every guard gives way by a
    thousandth of its constant.
    """
    from coherence.base.solver import unsat_each

    if not any(row.relation == "<" for rows in invariant.values() for p in rows for row in p):
        return False
    closed = {mode: tuple(tuple(_closed(row) for row in p) for p in rows) for mode, rows in invariant.items()}
    scripts = (claim.smtlib for claim in obligations(system, closed))
    if all(answer.unsat for answer in unsat_each(scripts, timeout_ms=CLOSED_MS)):
        return False
    answer = prove(_given_way(system), time_limit=seconds)
    return isinstance(answer, Unproved) and bool(answer.suspect)


def _closed(row: Constraint) -> Constraint:
    return Constraint(row.linear, "<=") if row.relation == "<" else row


def _given_way(system: TransitionSystem) -> TransitionSystem:
    """Returns the system whose guards about the state hold a little beyond their ends."""
    edges = (replace(e, guard=tuple(_loosened(row) for row in e.guard)) for e in system.edges)
    return replace(system, edges=tuple(edges))


def _loosened(row: Constraint) -> Constraint:
    if row.relation == "==":
        return row
    linear = row.linear
    return Constraint(LinearForm(linear.coefficients, linear.constant - abs(linear.constant) * LOOSE), "<=")
