"""Estimates what a loss would be with loops off, and splits the difference over them.

Off means: what the loop declares no longer acts, and a signal that no loop writes any more stands at a reference (0
if none is given).  The players of the split are the loops; where all are on the loss is the measured one.  Means
follow from (I - M)^-1 where everything behind the loss is linear, else the structure is run again.
`executed` asks the design itself instead of the fitted one: the exact executor runs it with loops off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.attribution.mechanisms import Mechanism, Range
from coherence.causal.attribution.shapley import TOLD, dividends, members, refuse_many, shapley
from coherence.causal.attribution.split import Interaction
from coherence.causal.attribution.structure import run, structure
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.effects import matrix, own, radius, total
from coherence.causal.fitting.fit import Fitted
from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Tree, Truth, rename
from coherence.model.model import Model, changed_loop, changed_outputs
from coherence.simulate.execute.exact import Choices, Execution, View

UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True)
class LoopShare:
    """`amount`: the loop's Shapley share of the loss; `alone`: how much less loss if it alone were off.

    `refused`: why neither can be told (both are then NaN).
    """

    loop: str
    amount: Estimate
    alone: Estimate
    refused: str = ""


@dataclass(frozen=True)
class LoopSplit:
    """measured = without + sum of the loops' amounts, exactly; `without`: the loss with every loop off.

    `by_off`: the loss with each set of loops off.
    """

    loss: str
    measured: Estimate
    without: Estimate
    shares: tuple[LoopShare, ...]
    interactions: tuple[Interaction, ...]
    assumptions: tuple[str, ...] = ()
    by_off: Mapping[frozenset[str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class LoopSwitch:
    """What a set of loops that are off changes: influences that are cut, and signals that stand still."""

    cut: Mapping[str, frozenset[str]]
    held: frozenset[str]


def writers(fitted: Fitted) -> dict[str, dict[str, frozenset[str]]]:
    """loop or component -> effect -> the causes whose influence on it it declares."""
    actions: dict[str, dict[str, frozenset[str]]] = {}
    for influence in fitted.graph.influences:
        if influence.by and influence.effect in fitted.nodes:
            mine = actions.setdefault(influence.by, {})
            mine[influence.effect] = mine.get(influence.effect, frozenset()) | {influence.cause}
    return actions


def loop_split(
    series: Series, fitted: Fitted, loss: str, loops: Sequence[str], *,
    constants: Mapping[str, float | Range] | None = None, reference: Mapping[str, float] | None = None,
) -> LoopSplit:  # fmt: skip
    """Split the mean loss over loops.  `reference`: where the signal that a loop writes stands while it is off.

    Raises UsageError for an unknown loop, for one that writes nothing that was measured, and for too many.
    """
    known = writers(fitted)
    for loop in loops:
        if loop not in known:
            raise UsageError(
                f"loop '{loop}' declares no influence between measured signals: record the signal that it writes. "
                + did_you_mean(loop, known)
            )
    refuse_many(loops, "loops")
    levels = reference or {}
    refused = {loop: why for loop in loops if (why := _blocked_loop(fitted, known[loop], loss))}
    wanted, loops = loops, [loop for loop in loops if loop not in refused]
    switches = [_switch(fitted, [loops[n] for n in members(c, len(loops))]) for c in range(1 << len(loops))]
    off = [switches[~c & ((1 << len(loops)) - 1)] for c in range(1 << len(loops))]  # coalition: who is on
    system = structure(series, fitted, loss, constants=constants)
    if any(isinstance(part, Mechanism) for part in system.parts.values()):
        values = np.stack([_rerun(series, fitted, loss, one, levels, constants) for one in off], axis=-1)
    else:
        values = np.stack([means_after(fitted, one, levels, {})[:, fitted.signals.index(loss)] for one in off], axis=-1)
    result = _shared(loss, loops, values, _assumed(off[0], levels))
    unknown = tuple(LoopShare(loop, UNKNOWN, UNKNOWN, refused[loop]) for loop in wanted if loop in refused)
    return replace(result, shares=(*result.shares, *unknown))


def _blocked_loop(fitted: Fitted, mine: Mapping[str, frozenset[str]], loss: str) -> str:
    """Why turning a loop off cannot be answered; nothing where it can."""
    for effect, causes in mine.items():
        node = fitted.nodes[effect]
        tied = {cause for cause, _ in node.equation.lost} | {c for group in node.groups for c, _ in group}
        if causes & tied:
            return node.equation.refused or f"{' and '.join(sorted(tied))} move together exactly"
    return blocked(fitted, mine, loss)


def blocked(fitted: Fitted, sources: Iterable[str], loss: str) -> str:
    """Why an intervention on `sources` has an effect on the loss that the data cannot tell; nothing where they can."""
    started = frozenset(sources)
    behind = fitted.graph.ancestors(loss)
    moved = {name for name in behind if started & fitted.graph.ancestors(name)}
    for name in moved - started:
        node = fitted.nodes.get(name)
        if node is None:
            continue
        if any(cause in moved for cause, _ in node.equation.lost) or set(node.equation.replaced) & moved:
            return node.equation.refused or f"what acts on {name} is told through the causes of its causes alone"
        for group in node.groups:
            if len({cause for cause, _ in group}) > 1 and any(cause in moved for cause, _ in group):
                return f"{' and '.join(dict.fromkeys(cause for cause, _ in group))} move together exactly"
    return ""


def _assumed(everything: LoopSwitch, reference: Mapping[str, float]) -> tuple[str, ...]:
    held = sorted(everything.held)
    return tuple(f"{name} stands at {reference.get(name, 0.0):g} while its loops are off" for name in held)


def _switch(fitted: Fitted, off: Iterable[str]) -> LoopSwitch:
    gone = set(off)
    cut: dict[str, frozenset[str]] = {}
    held: set[str] = set()
    for effect in fitted.nodes:
        into = [influence for influence in fitted.graph.influences if influence.effect == effect]
        lost = frozenset(one.cause for one in into if one.by in gone)
        staying = frozenset(one.cause for one in into if one.by not in gone)
        if lost:
            cut[effect] = lost - staying
        if lost and not staying:
            held.add(effect)
    return LoopSwitch(cut, frozenset(held))


def means_after(fitted: Fitted, switch: LoopSwitch, reference: Mapping[str, float], do: Mapping[str, float]) -> Floats:
    """(replicates, signals): means after the change, own parts as they were."""
    at = {name: number for number, name in enumerate(fitted.signals)}
    _, u = own(fitted, matrix(fitted))
    levels = {name: reference.get(name, 0.0) for name in switch.held} | dict(do)
    every = {name: tuple(fitted.signals) for name in levels}
    gone: dict[str, Sequence[str]] = {effect: tuple(causes) for effect, causes in switch.cut.items()}
    gone |= every
    m = matrix(fitted, off=gone)
    _refuse_growth(fitted, gone)
    u = u.copy()
    for name, level in levels.items():
        u[:, at[name]] = level
    return np.asarray((total(m) @ u[..., None])[..., 0], np.float64)


def _refuse_growth(fitted: Fitted, cut: Mapping[str, Sequence[str]]) -> None:
    """Raise UsageError where what is left feeds back without dying out."""
    growth = radius(fitted, off=cut)
    if growth >= 1:
        raise UsageError(
            f"without that, the feedback that is left does not die out (spectral radius {growth:.3g}): "
            "there is no lasting level to compare with"
        )


def _rerun(
    series: Series, fitted: Fitted, loss: str, switch: LoopSwitch, reference: Mapping[str, float],
    constants: Mapping[str, float | Range] | None,
) -> Floats:  # fmt: skip
    """(replicates,): mean loss of the structure run again."""
    return simulated(
        series, fitted, loss, {name: reference.get(name, 0.0) for name in switch.held}, switch.cut, constants
    )


def simulated(
    series: Series, fitted: Fitted, loss: str, held: Mapping[str, float], cut: Mapping[str, Iterable[str]],
    constants: Mapping[str, float | Range] | None = None,
) -> Floats:  # fmt: skip
    """(replicates,): mean of a signal when others are held and influences cut, everything else as it was."""
    system = structure(series, fitted, loss, constants=constants)
    drives = {name: rows[:, None, :] for name, rows in system.own.items()}
    there = np.isfinite(run(system, drives)[loss]).all(axis=(0, 1))
    losses = run(system, drives, held=held, cut=cut)[loss]
    shaped = np.broadcast_to(losses, (*losses.shape[:-1], len(series)))[:, 0, there].mean(axis=-1)
    return np.asarray(np.broadcast_to(shaped, (fitted.batches + 1,)), np.float64)


def _shared(loss: str, loops: Sequence[str], values: Floats, assumptions: tuple[str, ...]) -> LoopSplit:
    parts, everybody = shapley(values), values.shape[1] - 1
    shares = []
    for number, loop in enumerate(loops):
        alone = values[:, everybody] - values[:, everybody ^ (1 << number)]
        shares.append(LoopShare(loop, _estimate_of(parts[:, number]), _estimate_of(alone)))
    coefficients = dividends(values)
    size = max(abs(float(values[0, -1])), abs(float(values[0, -1] - values[0, 0])))
    pairs = tuple(
        Interaction(tuple(loops[n] for n in members(c, len(loops))), _estimate_of(coefficients[:, c]))
        for c in sorted(range(values.shape[1]), key=lambda c: -abs(float(coefficients[0, c])))
        if c.bit_count() > 1 and abs(float(coefficients[0, c])) > TOLD * size
    )
    by_off = {
        frozenset(loops) - {loops[n] for n in members(on, len(loops))}: float(level)
        for on, level in enumerate(values[0])
    }
    measured, without_all = _estimate_of(values[:, -1]), _estimate_of(values[:, 0])
    return LoopSplit(loss, measured, without_all, tuple(shares), pairs, assumptions, by_off)


def _estimate_of(row: Floats) -> Estimate:
    return estimate(float(row[0]), row[1:])


def without(
    series: Series, fitted: Fitted, loss: str, loops: Iterable[str], *,
    constants: Mapping[str, float | Range] | None = None, reference: Mapping[str, float] | None = None,
) -> Estimate:  # fmt: skip
    """The mean loss with these loops off together."""
    split = loop_split(series, fitted, loss, tuple(loops), constants=constants, reference=reference)
    return split.without


# -- the design itself, executed ---------------------------------------------------------------------------------


def switched_off(model: Model, loops: Iterable[str]) -> Model:
    """The model without these loops: their conditions are false wherever others ask."""
    off = frozenset(loops)
    unknown = off - {loop.name for loop in model.loops}
    if unknown:
        names = [loop.name for loop in model.loops]
        raise UsageError(f"the design has no loop '{min(unknown)}': {did_you_mean(min(unknown), names)}")

    change = partial(rename_off, off=off)
    running = tuple(changed_loop(loop, change) for loop in model.loops if loop.name not in off)
    return replace(model, loops=running, outputs=changed_outputs(model, change))


def rename_off(tree: Tree, off: frozenset[str]) -> Tree:
    """The tree with the loops in `off` never active."""
    return rename(tree, lambda path: Truth(False) if path in off else path)


def executed(
    model: Model, loss: Tree, loops: Sequence[str], *, until: Fraction, since: Fraction = Fraction(0),
    choices: Choices | None = None,
) -> LoopSplit:  # fmt: skip
    """Split the mean of an expression between `since` and `until` over loops, by running the design 2^n times.

    Exact for this one choice of what the design leaves open: the intervals have no width.
    """
    refuse_many(loops, "loops")
    count = 1 << len(loops)
    off = [[loops[n] for n in range(len(loops)) if not c >> n & 1] for c in range(count)]
    values = np.array([[_mean_of(switched_off(model, x), loss, frozenset(x), since, until, choices) for x in off]])
    return _shared(
        "executed", loops, np.repeat(values, 3, axis=0), ("one execution of the design for each set of loops",)
    )


def _mean_of(
    model: Model, loss: Tree, off: frozenset[str], since: Fraction, until: Fraction, choices: Choices | None
) -> float:
    """Time average of what stands after each instant until the next one."""
    tree, going = rename_off(loss, off), Execution(model, choices)
    area, last, level = Fraction(0), Fraction(0), Fraction(0)
    while going.next_time() <= until:
        instant = going.advance()
        area += level * max(instant.time - max(last, since), Fraction(0))
        last = instant.time
        level = Fraction(evaluate(tree, View(going, instant.time, dict(instant.after))))
    area += level * (until - max(last, since))
    return float(area / (until - since))
