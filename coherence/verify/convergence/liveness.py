"""Proves that a condition comes (`eventually`) or comes to stay (`eventually_always`), for every order of instants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.schedules import PhasePattern
from coherence.verify.convergence.descent import reaches, settles
from coherence.verify.convergence.set_chains import Descent
from coherence.verify.systems.affine_between_instants import decided_at_instants
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.clocks import encoder_of, patterns
from coherence.verify.systems.model_readings import first_reading, readings
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, Polyhedron, TransitionSystem
from coherence.verify.systems.transitions import BROKEN, ModelReading


@dataclass(frozen=True, slots=True)
class Come:
    """From `within` seconds on (at the latest) every run is where it must be."""

    certificates: tuple[str, ...]
    readings: tuple[ModelReading, ...]
    within: Fraction
    quadratic: bool = False  # some order by a Lyapunov function


def comes(model: Model, condition: Tree, *, stays: bool, deadline: float) -> Come | str:
    """Returns a proof with its bound in time, or why there is none.  Raises NotLinearError, NotCommensurateError."""
    if not decided_at_instants(model, condition, "eventually_always" if stays else "eventually"):
        raise NotLinearError("what the promise says of flowing states may change between the instants")
    ways, certificates, used, within = readings(model), list[str](), list[ModelReading](), Fraction(0)
    quadratic = False
    for schedule in patterns(model):

        def attempt(
            reading: ModelReading, until: float, schedule: PhasePattern = schedule
        ) -> tuple[Descent, int, Fraction] | str:
            encoder = encoder_of(schedule)(model, schedule, condition, reading=reading, deadline=until)
            system = encoder.system()
            end = (
                settles(system, broken=BROKEN, deadline=until) if stays else reaches(_short_of(system), deadline=until)
            )
            return end if isinstance(end, str) else (end, len(encoder.plan.moments), encoder.lap)

        proof = first_reading(ways, deadline, attempt)
        if isinstance(proof, str):
            return proof
        reading, (descent, moments, lap) = proof
        ways = [reading, *(way for way in ways if way != reading)]
        certificates.append(descent.certificate)
        used.append(reading)
        quadratic = quadratic or descent.quadratic
        laps = Fraction(math.ceil(descent.levels / moments) + 1)
        within = max(within, laps * lap)
    return Come(tuple(certificates), tuple(dict.fromkeys(used)), within, quadratic)


def _short_of(system: TransitionSystem) -> TransitionSystem:
    """Returns the system among states at which the condition does not hold: its bad sets."""
    if any(mode == BROKEN for mode, _ in system.bad):
        raise NotLinearError("the promise reads what changes between instants")
    width = len(system.variables) + len(system.choices)
    short: dict[str, list[Polyhedron]] = {}
    for mode, rows in system.bad:
        short.setdefault(mode, []).append(rows)
    edges = [
        AffineEdge(e.source, e.target, (*e.guard, *(_wide(row, width) for row in rows)), e.update, e.label)
        for e in system.edges
        for rows in short.get(e.source, [])
    ]
    initial = tuple((mode, (*start, *rows)) for mode, start in system.initial for rows in short.get(mode, []))
    return TransitionSystem(system.variables, system.choices, initial, tuple(edges), ())


def _wide(row: Constraint, width: int) -> Constraint:
    missing = width - len(row.linear.coefficients)
    return Constraint(LinearForm(row.linear.coefficients + (Fraction(0),) * missing, row.linear.constant), row.relation)
