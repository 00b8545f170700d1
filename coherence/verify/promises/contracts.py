"""Proves a promise part by part: each strongly connected part guarantees the others intervals, proved on its own.

Downstream, a signal of another part may take any value of its interval at every sample, and a mode of
another part's loop may be either.  That is a larger set of runs, so what is proved holds; and ten pairs
cost ten times a pair, not the product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from coherence.base.graphs import components
from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree, names
from coherence.model.model import Constant, Interval, Model, commanded, unit_of
from coherence.simulate.execute.schedules import NotCommensurateError, schedules
from coherence.simulate.execute.slices import influences, reads, signals_in
from coherence.verify.invariants.directions import Direction, template
from coherence.verify.invariants.fixpoint import APART, Abstraction, post_fixpoint
from coherence.verify.invariants.numeric import TIGHTEN, CoordinateFrame, Floats, lower
from coherence.verify.invariants.random_runs import frame_of, sample
from coherence.verify.promises.proofs import ConditionProof, ProofFailure, proof_of
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.model_readings import readings
from coherence.verify.systems.piecewise_affine import TransitionSystem
from coherence.verify.systems.transitions import Encoder

ROOM = 0.05  # share of an interval's size by which a contract is wider than what was seen


@dataclass(frozen=True, slots=True)
class Contract:
    """A signal stays within an interval in every run of its part."""

    path: str
    interval: Interval

    @property
    def text(self) -> str:
        """Renders the contract."""
        low, high = self.interval.low, self.interval.high
        least, most = -math.inf if low is None else float(low), math.inf if high is None else float(high)
        return f"{self.path} in [{least:g}, {most:g}]"


@dataclass(frozen=True, slots=True)
class _Side:
    """What a part sees of the others: modes that are free, signals that are loose."""

    free: frozenset[str]
    loose: frozenset[str]


@dataclass(frozen=True, slots=True)
class ByParts:
    """The proof of the promise on its own part, and of each contract that it stands on."""

    held: ConditionProof
    contracts: tuple[Contract, ...]
    certificates: tuple[str, ...]


def parts(model: Model) -> list[frozenset[str]]:
    """Returns states, commands and loops that depend on each other, each set after those that it depends on."""
    nodes = [*model.states, *model.commands, *(loop.name for loop in model.loops)]
    reach = {node: _depends(model, node) & set(nodes) for node in nodes}
    groups = [frozenset(part) for part in components(reach)]
    return sorted(groups, key=lambda part: (len(frozenset().union(*(reach[n] for n in part))), min(part)))


def _depends(model: Model, node: str) -> frozenset[str]:
    """Returns everything that decides a node: of a loop, what it reads and what it counts on from its own command."""
    loop = next((x for x in model.loops if x.name == node), None)
    sources = influences(
        model, [*reads(loop), *([loop.signal] if loop.signal else [])] if loop else _sources(model, node)
    )
    writers = {x.name for x in model.loops if x.signal in sources}
    return sources | writers | ({node} if node in sources else frozenset())


def _sources(model: Model, node: str) -> list[str]:
    if node in model.states:
        state = model.states[node]
        return [n for tree in (state.next, state.flow) if tree is not None for n in names(tree)]
    return [loop.name for loop in model.loops if loop.signal == node]


def by_parts(model: Model, condition: Tree, *, wanted: bool, deadline: float) -> ByParts | ProofFailure | None:
    """Returns a proof with contracts between parts; None where there is one part only.  Raises NotLinearError."""
    every = parts(model)
    touched = signals_in(model, condition) | set(names(condition))
    own = frozenset().union(*(part for part in every if part & touched))
    if not own or all(part <= own for part in every):
        return None
    contracts: dict[str, Contract] = {}
    certificates: list[str] = []
    needed = _outside(model, own)
    for part in every:
        paths = sorted((part - own) & (needed | _all_reads(model, every, part)) & {*model.states, *model.commands})
        if part <= own or not paths:
            continue
        piece = _piece(model, part, contracts)
        for path in paths:
            contract = _contract(piece, path, _Side(_free(model, part), _loose(model, part)), deadline)
            if isinstance(contract, str):
                return ProofFailure({}, f"no interval found for {path}: {contract}", 0)
            contracts[path] = contract[0]
            certificates += contract[1]
    piece, loose = _piece(model, own, contracts), _loose(model, own)
    held = proof_of(piece, condition, wanted=wanted, deadline=deadline, free=_free(model, own), loose=loose)
    return held if isinstance(held, ProofFailure) else ByParts(held, tuple(contracts.values()), tuple(certificates))


def within_bounds(model: Model, condition: Tree, *, wanted: bool, deadline: float) -> ByParts | None:
    """Returns a proof of what is said of states that step, whatever loops command within the bounds of their commands.

    None where there is none: one for all orders and periods of the loops, and coarser than one with their laws.
    """
    states, spoken_of = frozenset(model.states), signals_in(model, condition) | set(names(condition))
    driving = _outside(model, states) & model.commands.keys()
    ranges = {path: Contract(path, commanded(model, path)) for path in sorted(driving)}
    bounded = all(None not in (one.interval.low, one.interval.high) for one in ranges.values())
    steps = all(state.flow is None and state.switch is None for state in model.states.values())
    modes = {loop.name for loop in model.loops}
    if not (states and ranges and bounded and steps) or spoken_of & (modes | model.commands.keys()):
        return None
    try:
        piece = _piece(model, states, ranges)
        proof = proof_of(
            piece, condition, wanted=wanted, deadline=deadline, free=_free(model, states), loose=_loose(model, states)
        )
    except (NotLinearError, NotCommensurateError):
        return None
    return ByParts(proof, tuple(ranges.values()), ()) if isinstance(proof, ConditionProof) else None


def _all_reads(model: Model, every: list[frozenset[str]], part: frozenset[str]) -> frozenset[str]:
    """Returns what other parts read of a part."""
    return frozenset(n for other in every if other != part for n in _outside(model, other) if n in part)


def _outside(model: Model, part: frozenset[str]) -> frozenset[str]:
    """Returns signals that a part reads and does not hold."""
    loops = [loop for loop in model.loops if loop.name in part]
    read = {n for loop in loops for n in reads(loop)} | {
        n for node in part if node in model.states for n in _sources(model, node)
    }
    signals = {n for name in read for n in signals_in(model, Name(name))}
    return frozenset(signals - part)


def _free(model: Model, part: frozenset[str]) -> frozenset[str]:
    return frozenset(loop.name for loop in model.loops if loop.name not in part)


def _loose(model: Model, part: frozenset[str]) -> frozenset[str]:
    return frozenset({*model.states, *model.commands} - part)


def _piece(model: Model, part: frozenset[str], contracts: dict[str, Contract]) -> Model:
    """Returns the part as a model of its own; signals of other parts vary within their contracts."""
    outside = {*model.states, *model.commands} - part
    given = {path: _varying(model, path, contracts.get(path)) for path in outside}
    return replace(
        model,
        states={k: v for k, v in model.states.items() if k in part},
        commands={k: v for k, v in model.commands.items() if k in part},
        constants={**model.constants, **given},
        loops=tuple(loop for loop in model.loops if loop.name in part),
        outputs=dict(model.outputs),
        promises={},
    )


def _varying(model: Model, path: str, contract: Contract | None) -> Constant:
    table = model.states if path in model.states else model.commands
    span = contract.interval if contract is not None else Interval(None, None)
    return Constant(path, span, True, unit_of(model, path), table[path].place)


def _contract(piece: Model, path: str, side: _Side, deadline: float) -> tuple[Contract, list[str]] | str:
    """Returns the interval of a signal in its part, found in floats over one order of instants, proved over all."""
    low, high = _seen(piece, path, side, deadline)
    if low is None and high is None:
        return "it seems to have no bounds"
    terms: list[Tree] = []
    me = Name(path)
    terms += [Compare(">=", me, Number(low))] if low is not None else []
    terms += [Compare("<=", me, Number(high))] if high is not None else []
    claim = terms[0] if len(terms) == 1 else Logic("and", tuple(terms))
    proof = proof_of(piece, claim, wanted=True, deadline=deadline, free=side.free, loose=side.loose)
    if isinstance(proof, ProofFailure):
        return proof.reason
    return Contract(path, Interval(low, high)), list(proof.certificates)


def _seen(piece: Model, path: str, side: _Side, deadline: float) -> tuple[Fraction | None, Fraction | None]:
    """Returns ends that a template proof of one order suggests, a little widened; None: no end."""
    schedule = next(iter(schedules(piece)))
    for reading in readings(piece):
        try:
            system = Encoder(
                piece, schedule, None, reading=reading, free=side.free, loose=side.loose, deadline=deadline
            ).system()
        except NotLinearError:
            continue
        if path in system.variables:
            return _ends(system, system.variables.index(path), deadline)
        if path in piece.commands:
            return piece.commands[path].range.low, piece.commands[path].range.high
    raise NotLinearError(f"{path} has no encoding of its own part")


def _ends(system: TransitionSystem, index: int, deadline: float) -> tuple[Fraction | None, Fraction | None]:
    with np.errstate(all="ignore"):
        runs = sample(system, samples=80, steps=120)
        numeric = lower(system, frame_of(runs), tighten=TIGHTEN)
        n, old, new = numeric.states, runs.numeric.frame, numeric.frame
        raw = runs.point.reshape(runs.mode.size, n) * old.scale[:n] + old.centre[:n]
        points = (raw - new.centre[:n]) / new.scale[:n]
        ends: tuple[float | None, float | None] = (None, None)
        for effort, widen in ((0, 0.02), (1, 0.02), (2, 0.02), (2, 0.3)):
            directions = template(system, numeric, points, effort=effort)
            scaled = np.array([[float(c) for c in d] for d in directions]).reshape(-1, n) * new.scale[:n]
            unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
            abstraction = Abstraction(numeric, unit, apart=APART, deadline=deadline)
            mode, seen = runs.mode.reshape(-1), np.full((len(numeric.modes), len(unit)), -np.inf)
            for m in np.unique(mode):
                seen[int(m)] = (points[mode == m] @ unit.T).max(axis=0)
            fixpoint = post_fixpoint(abstraction, seen, widen)
            if fixpoint is not None:
                ends = _along(fixpoint[0].support[fixpoint[0].reached], directions, index, new)
                if None not in ends:
                    break
    return _wider(*ends)


def _along(
    support: Floats, directions: tuple[Direction, ...], index: int, frame: CoordinateFrame
) -> tuple[float | None, float | None]:
    low: float | None = None
    high: float | None = None
    for j, d in enumerate(directions):
        if sum(1 for c in d if c) == 1 and d[index]:
            end = float(support[:, j].max())
            value = float(frame.centre[index] + (1 if d[index] > 0 else -1) * end * frame.scale[index])
            if np.isfinite(end):
                high, low = (value, low) if d[index] > 0 else (high, value)
    return low, high


def _wider(low: float | None, high: float | None) -> tuple[Fraction | None, Fraction | None]:
    size = (high - low) if low is not None and high is not None else abs(low or high or 1.0)
    if low is None and high is None:
        return None, None
    room = ROOM * max(size, 1e-6 * max(abs(low or 0.0), abs(high or 0.0), 1e-6))
    digits = Fraction(10) ** math.floor(math.log10(room))
    down = None if low is None else Fraction(math.floor(Fraction(low - room) / digits)) * digits
    up = None if high is None else Fraction(math.ceil(Fraction(high + room) / digits)) * digits
    return down, up
