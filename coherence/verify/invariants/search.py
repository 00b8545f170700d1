"""Searches for an invariant, behind `prove`: templates, widenings and roundings, from cheap to thorough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from coherence.base.clock import left_until, now
from coherence.base.solver import joined, unsat, unsat_each
from coherence.verify.invariants.boxes import box_invariant
from coherence.verify.invariants.directions import Direction, template
from coherence.verify.invariants.fixpoint import APART, TOUCHING, Abstraction, post_fixpoint
from coherence.verify.invariants.invariant_margins import InvariantGuess
from coherence.verify.invariants.numeric import TIGHTEN, CoordinateFrame, Floats, Numeric, lower
from coherence.verify.invariants.proof import InvariantProof, Result, Unproved
from coherence.verify.invariants.random_runs import BadRun, Runs, bad_run, frame_of, sample
from coherence.verify.invariants.rounding import Style, rational
from coherence.verify.invariants.smtlib import Invariant, Obligation, certificate, obligations
from coherence.verify.invariants.split import cut, uncut
from coherence.verify.systems.piecewise_affine import TransitionSystem


@dataclass(frozen=True, slots=True)
class Effort:
    """How rich a template, how much (in the frame) to widen what runs saw, and which sets count as apart."""

    level: int
    widenings: tuple[float, ...]
    apart: float = APART


BOXES, QUICK = Effort(0, (0.02, 0.3)), Effort(1, (0.02, 0.3))
USUAL, THOROUGH = Effort(2, (0.02, 0.3, 2.0, 0.0)), Effort(3, (0.02, 0.3, 2.0, 0.0))
BARELY = Effort(1, (0.02,), TOUCHING)


WHOLE_MS = 500
SHORT = 1000  # denominators of a run that is to be repeated exactly
MANY, WHOLE_SECONDS = 60, 4.0  # so many obligations are asked as one; seconds for that


@dataclass(slots=True)
class Diary:
    """What was tried, and until when the search may go on."""

    deadline: float
    tried: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        return left_until(self.deadline)


@dataclass(frozen=True, slots=True)
class Ground:
    """What every attempt at one system starts from: runs, and the system in the coordinates they suggest."""

    system: TransitionSystem
    runs: Runs
    numeric: Numeric
    points: Floats  # all that was visited, in the frame of `numeric`

    @property
    def frame(self) -> CoordinateFrame:
        return self.numeric.frame


def search(system: TransitionSystem, *, time_limit: float, samples: int, steps: int) -> Result:
    """Searches for a proof, as `coherence.verify.invariants.prover.prove` says."""
    diary = Diary(now() + time_limit)
    bad: BadRun | None = None
    try:
        with np.errstate(all="ignore"):  # infinite bounds are part of the method, and nothing here is a verdict
            ground = _ground(system, samples, steps)
            bad = bad_run(ground.runs)
            for invariant, attempt in _candidates(ground, diary, hopeful=bad is None):
                proof = _certified(system, invariant, attempt, diary)
                if proof is not None:
                    return proof
    except (np.linalg.LinAlgError, OverflowError) as error:  # numbers that floats cannot tell apart or hold
        diary.tried.append(f"stopped: {error}")
    return _unproved(system, bad, diary)


def _unproved(system: TransitionSystem, bad: BadRun | None, diary: Diary) -> Unproved:
    if bad is not None:
        labels = tuple(system.edges[e].label for e in bad.edges)
        reason = f"a run of {len(labels)} steps, in floats, seems to enter a bad set"
        chosen = tuple(_short(row) for row in bad.chosen)
        return Unproved(reason, tuple(diary.tried), labels, _short(bad.start), chosen)
    reason = "the time is over" if diary.left <= 0 else "no template that was tried has an inductive invariant"
    return Unproved(reason, tuple(diary.tried))


def _short(numbers: Floats) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(x)).limit_denominator(SHORT) if np.isfinite(x) else Fraction(0) for x in numbers)


def _ground(system: TransitionSystem, samples: int, steps: int, frame: CoordinateFrame | None = None) -> Ground:
    runs = sample(system, samples=samples, steps=steps)
    numeric = lower(system, frame or frame_of(runs), tighten=TIGHTEN)
    n, old, new = numeric.states, runs.numeric.frame, numeric.frame
    raw = runs.point.reshape(runs.mode.size, n) * old.scale[:n] + old.centre[:n]
    return Ground(system, runs, numeric, (raw - new.centre[:n]) / new.scale[:n])


def _candidates(ground: Ground, diary: Diary, *, hopeful: bool) -> Iterator[tuple[Invariant, str]]:
    """Yields invariants in rationals, the likely ones first: one polyhedron per mode, then unions of them.

    Not `hopeful`: a run in floats seems to be bad.  It may have crossed a bound that exact runs only
    come close to, so a little is tried all the same.
    """
    exact = box_invariant(ground.system, diary.deadline) if hopeful else None
    if exact is not None:
        yield exact, "exact boxes"
    for effort in (BOXES, QUICK, USUAL, BARELY) if hopeful else (BARELY,):
        yield from _invariants(ground, effort, diary)
    if hopeful and diary.left > 0:
        yield from _unions(ground, diary)
        yield from _invariants(ground, THOROUGH, diary)


def _unions(ground: Ground, diary: Diary) -> Iterator[tuple[Invariant, str]]:
    division = cut(ground.system, ground.frame)
    if division is None:
        return
    again = _ground(division.system, ground.runs.mode.shape[1], len(ground.runs.edge), ground.frame)
    for effort in (QUICK, USUAL):
        for invariant, attempt in _invariants(again, effort, diary):
            yield uncut(division, invariant), f"{len(division.system.modes)} cells, {attempt}"


def _invariants(ground: Ground, effort: Effort, diary: Diary) -> Iterator[tuple[Invariant, str]]:
    directions = template(ground.system, ground.numeric, ground.points, effort=effort.level)
    for widen in effort.widenings:
        if diary.left <= 0:
            return
        attempt = f"{len(directions)} directions, widened by {widen:g}"
        guess = _guess(ground, directions, widen, effort.apart, diary)
        if guess is None:
            diary.tried.append(f"{attempt}: no bounds that the edges keep")
            continue
        yield from _rounded(guess, attempt, diary)


def _rounded(guess: InvariantGuess, attempt: str, diary: Diary) -> Iterator[tuple[Invariant, str]]:
    margin = float(guess.unsafe.margin.min(initial=np.inf))
    if margin <= TOUCHING:
        diary.tried.append(f"{attempt}: the bounds meet a bad set")
        return
    touching = guess.abstraction.apart < 0 or margin <= APART
    styles: tuple[Style, ...] = ("strict",) if touching else ("roomy", "tight")
    for style in styles:
        invariant = rational(guess, style)
        if invariant is not None:
            yield invariant, f"{attempt}, {style}"


def _guess(
    ground: Ground, directions: tuple[Direction, ...], widen: float, apart: float, diary: Diary
) -> InvariantGuess | None:
    states = ground.numeric.states
    raw = np.array([[float(c) for c in d] for d in directions]).reshape(len(directions), states)
    scaled = raw * ground.frame.scale[:states]
    unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    abstraction = Abstraction(ground.numeric, unit, apart=apart, deadline=diary.deadline)
    fixpoint = post_fixpoint(abstraction, _seen(ground, unit), widen)
    if fixpoint is None:
        return None
    bounds, image = fixpoint
    return InvariantGuess(abstraction, directions, bounds, image, abstraction.unsafe(bounds))


def _seen(ground: Ground, directions: Floats) -> Floats:
    """Returns the largest value of each direction in each mode; -inf where no run was."""
    mode = ground.runs.mode.reshape(-1)
    seen = np.full((len(ground.numeric.modes), len(directions)), -np.inf)
    for m in np.unique(mode):
        seen[m] = (ground.points[mode == m] @ directions.T).max(axis=0)
    return seen


def _certified(system: TransitionSystem, invariant: Invariant, attempt: str, diary: Diary) -> InvariantProof | None:
    """Returns the proof, if z3 answers unsat to every obligation."""
    if diary.left <= 0:
        return None
    claims = obligations(system, invariant)
    if len(claims) > MANY:
        whole = certificate(system, invariant)
        if unsat(whole, timeout_ms=int(1000 * max(0.1, min(diary.left, WHOLE_SECONDS)))).unsat:
            diary.tried.append(f"{attempt}: proved")
            return InvariantProof(invariant, claims, whole, tuple(diary.tried))
    failed = _first_failure(claims, diary)
    diary.tried.append(f"{attempt}: {failed or 'proved'}")
    if failed is not None:
        return None
    return InvariantProof(invariant, claims, _certificate(system, invariant, claims), tuple(diary.tried))


def _certificate(system: TransitionSystem, invariant: Invariant, claims: tuple[Obligation, ...]) -> str:
    """Returns one short script, if z3 confirms it soon; else the scripts that it has confirmed, one after the other."""
    whole = certificate(system, invariant)
    return whole if unsat(whole, timeout_ms=WHOLE_MS).unsat else joined(claim.smtlib for claim in claims)


def _first_failure(claims: tuple[Obligation, ...], diary: Diary) -> str | None:
    """Returns the first claim that z3 does not confirm."""
    answers = unsat_each((claim.smtlib for claim in claims), timeout_ms=int(1000 * max(0.1, diary.left)))
    for claim, answer in zip(claims, answers, strict=True):
        if not answer.unsat:
            return f"{claim.name}: {answer.outcome} {answer.reason}".rstrip()
        if diary.left <= 0:
            return "the time is over"
    return None
