"""The search behind `prove`: templates, widenings and roundings, from cheap to thorough."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from coherence.solver import unsat_each
from coherence.verify.directions import Direction, template
from coherence.verify.fixpoint import APART, TOUCHING, Abstraction, post_fixpoint
from coherence.verify.invariants import Proof, Result, Unproved
from coherence.verify.numeric import Floats, Frame, Numeric, lower
from coherence.verify.rounding import TIGHTEN, Guess, Style, rational
from coherence.verify.runs import Runs, bad_path, frame_of, sample
from coherence.verify.smtlib import Invariant, Obligation, obligations
from coherence.verify.split import cut, joined
from coherence.verify.systems import System



@dataclass(frozen=True, slots=True)
class Effort:
    """How rich a template, and by how much (in the frame) to widen what runs saw."""

    level: int
    widenings: tuple[float, ...]
    apart: float = APART


SUSPICIOUS = Effort(0, (0.02,), TOUCHING)
EFFORTS = (Effort(0, (0.02, 0.3)), Effort(1, (0.02, 0.3, 2.0, 0.0)), SUSPICIOUS, Effort(2, (0.02, 0.3, 2.0, 0.0)))


@dataclass(slots=True)
class Diary:
    """What was tried, and until when the search may go on."""

    deadline: float
    tried: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()


def search(system: System, *, time_limit: float, samples: int, steps: int) -> Result:
    """See `coherence.verify.invariants.prove`."""
    diary = Diary(time.monotonic() + time_limit)
    try:
        runs = sample(system, samples=samples, steps=steps)
        path = bad_path(runs)
        for invariant, attempt in _candidates(system, runs, diary, hopeful=path is None):
            proof = _certified(system, invariant, attempt, diary)
            if proof is not None:
                return proof
    except np.linalg.LinAlgError as error:
        diary.tried.append(f"stopped: {error}")
        path = None
    if path is not None:
        labels = tuple(system.edges[e].label for e in path)
        return Unproved(f"a run of {len(path)} steps, in floats, seems to enter a bad set", tuple(diary.tried), labels)
    reason = "the time is over" if diary.left <= 0 else "no template that was tried has an inductive invariant"
    return Unproved(reason, tuple(diary.tried))


def _candidates(system: System, runs: Runs, diary: Diary, *, hopeful: bool) -> Iterator[tuple[Invariant, str]]:
    """Invariants in rationals, the likely ones first: one polyhedron per mode, then unions of them.

    Not `hopeful`: a run in floats seems to be bad.  It may have crossed a bound that exact runs only
    come close to, so a little is tried all the same.
    """
    frame = frame_of(runs)
    if not hopeful:
        yield from _invariants(system, runs, frame, SUSPICIOUS, diary)
        return
    for effort in EFFORTS[:3]:
        yield from _invariants(system, runs, frame, effort, diary)
    division = cut(system, frame) if diary.left > 0 else None
    if division is not None:
        again = sample(division.system, samples=runs.mode.shape[1], steps=len(runs.edge))
        for effort in EFFORTS[:2]:
            for invariant, attempt in _invariants(division.system, again, frame, effort, diary):
                yield joined(division, invariant), f"{len(division.system.modes)} cells, {attempt}"
    yield from _invariants(system, runs, frame, EFFORTS[3], diary)


def _invariants(
    system: System, runs: Runs, frame: Frame, effort: Effort, diary: Diary
) -> Iterator[tuple[Invariant, str]]:
    numeric = lower(system, frame, tighten=TIGHTEN)
    points = _in_frame(runs, numeric)
    directions = template(system, numeric, points, effort=effort.level)
    for widen in effort.widenings:
        if diary.left <= 0:
            return
        attempt = f"{len(directions)} directions, widened by {widen:g}"
        guess = _guess(numeric, directions, runs, points, widen, effort.apart)
        if guess is None:
            diary.tried.append(f"{attempt}: no bounds that the edges keep")
            continue
        yield from _rounded(guess, attempt, diary)


def _rounded(guess: Guess, attempt: str, diary: Diary) -> Iterator[tuple[Invariant, str]]:
    margin = float(guess.unsafe.margin.min(initial=np.inf))
    touching = guess.abstraction.apart < 0 or margin <= APART
    styles: tuple[Style, ...] = ("strict",) if touching else ("roomy", "tight")
    if margin <= TOUCHING:
        styles = ()
    if not styles:
        diary.tried.append(f"{attempt}: the bounds meet a bad set")
    for style in styles:
        invariant = rational(guess, style)
        if invariant is not None:
            yield invariant, f"{attempt}, {style}"


def _in_frame(runs: Runs, numeric: Numeric) -> Floats:
    """All visited points, in the frame of `numeric`."""
    n, old, new = numeric.states, runs.numeric.frame, numeric.frame
    raw = runs.point.reshape(runs.mode.size, n) * old.scale[:n] + old.centre[:n]
    return (raw - new.centre[:n]) / new.scale[:n]


def _guess(
    numeric: Numeric, directions: tuple[Direction, ...], runs: Runs, points: Floats, widen: float, apart: float
) -> Guess | None:
    raw = np.array([[float(c) for c in d] for d in directions]).reshape(len(directions), numeric.states)
    scaled = raw * numeric.frame.scale[: numeric.states]
    abstraction = Abstraction(numeric, scaled / np.linalg.norm(scaled, axis=1, keepdims=True), apart=apart)
    found = post_fixpoint(abstraction, _seen(abstraction, runs, points), widen)
    if found is None:
        return None
    bounds, image = found
    return Guess(abstraction, directions, bounds, image, abstraction.unsafe(bounds))


def _seen(abstraction: Abstraction, runs: Runs, points: Floats) -> Floats:
    """The largest value of each direction in each mode; -inf where no run was."""
    mode = runs.mode.reshape(-1)
    seen = np.full((len(abstraction.numeric.modes), len(abstraction.directions)), -np.inf)
    for m in np.unique(mode):
        seen[m] = (points[mode == m] @ abstraction.directions.T).max(axis=0)
    return seen


def _certified(system: System, invariant: Invariant, attempt: str, diary: Diary) -> Proof | None:
    """The proof, if z3 answers unsat to every obligation."""
    claims = obligations(system, invariant)
    if not claims or diary.left <= 0:
        return None
    failed = _first_failure(claims, diary)
    diary.tried.append(f"{attempt}: {failed or 'proved'}")
    return Proof(invariant, claims, tuple(diary.tried)) if failed is None else None


def _first_failure(claims: tuple[Obligation, ...], diary: Diary) -> str | None:
    milliseconds = int(1000 * max(0.1, diary.left))
    answers = unsat_each((claim.smtlib for claim in claims), timeout_ms=milliseconds)
    for claim, answer in zip(claims, answers, strict=True):
        if not answer.unsat:
            return f"{claim.name}: {answer.outcome} {answer.reason}".rstrip()
        if diary.left <= 0:
            return "the time is over"
    return None
