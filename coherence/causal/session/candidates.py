"""Builds the candidate graph: every influence that a design declares, with its delays and its sign.

An output is acted on by every name in its expression, a state by what its next value or its rate of change reads, and
what a loop writes by what its sensor, its trigger and its rules read: no earlier than the shortest way through the
sensor, and no later than the longest way, one period, the landing delay and the hold window.
SOURCE: model.md, `candidates(model) -> causal edges (from, to, lag range, sign)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.causal.attribution.mechanism_formulas import affine, without_past
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.session.call_candidates import influences_of_calls
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    children,
    names,
    rename,
)
from coherence.model.model import Model, SampledLoop

ZERO = Fraction(0)
_KEEPS = {"min", "max", "floor", "ceil", "exp", "log", "sampled", "mean_over", "delayed", "previous", "round_up"}


@dataclass(frozen=True)
class _Reads:
    """A name, how long before its value was taken (seconds), and the sign with which it counts."""

    path: str
    low: Fraction
    high: Fraction
    sign: int
    spread: bool = False  # every delay counts, as in a mean


def candidates(model: Model, observed: Iterable[str] = ()) -> CausalGraph:
    """The graph of a model.  Constants are signals only where they vary or are `observed`."""
    seen = frozenset(observed)
    positive = {
        path for path, constant in model.constants.items() if constant.range.low is not None and constant.range.low >= 0
    }
    influences: list[Influence] = []
    for path, tree in model.outputs.items():
        influences += _declared(model, path, tree, positive)
    for path in model.states:
        influences += _moving(model, path, positive)
    for loop in model.loops:
        influences += _acting(model, loop, positive)
    influences += influences_of_calls(model.design)
    fixed = {path for path, constant in model.constants.items() if not constant.varies and path not in seen}
    varying = tuple(dict.fromkeys(influence for influence in influences if influence.cause not in fixed))
    modes = frozenset(loop.name for loop in model.loops)
    computed = frozenset(model.outputs) | frozenset(model.commands) | modes
    every = [*model.inputs, *model.constants, *model.states, *model.commands, *model.outputs]
    every += [loop.name for loop in model.loops]
    every += [name for one in varying for name in (one.cause, one.effect)]
    nodes = tuple(dict.fromkeys(name for name in every if name not in fixed))
    places = {node: _place(model, node) for node in nodes}
    return CausalGraph(nodes, varying, computed, dict(model.outputs), places, _curved(model, nodes))


def _curved(model: Model, nodes: Iterable[str]) -> frozenset[str]:
    """What is no straight line of its causes: what loops write, and expressions that are not affine in signals."""
    moving = frozenset(nodes)
    trees = dict(model.outputs) | {path: state.next or state.flow for path, state in model.states.items()}
    bent = {path for path, tree in trees.items() if tree is not None and _bent(model, tree, moving)}
    return frozenset(bent) | frozenset(model.commands) | {loop.name for loop in model.loops}


def _bent(model: Model, tree: Tree, moving: frozenset[str]) -> bool:
    plain = rename(without_past(tree), model.resolve)
    return affine(plain, moving & set(names(plain))) is None


def _declared(model: Model, path: str, tree: Tree, positive: set[str]) -> Iterator[Influence]:
    place = _place(model, path)
    for read in reads(tree, positive):
        cause = model.resolve(read.path)
        yield Influence(cause, path, read.low, read.high, read.sign, _owner(path), places=(place,), spread=read.spread)


def _moving(model: Model, path: str, positive: set[str]) -> Iterator[Influence]:
    state = model.states[path]
    step, owner, places = state.step or ZERO, _owner(path), (state.place,)
    if state.next is not None:
        for read in reads(state.next, positive):
            cause = model.resolve(read.path)
            written = cause in model.commands and read.low == read.high
            low, high = read.low + (ZERO if written else step), read.high + step
            yield Influence(cause, path, low, high, read.sign, owner, places=places, either=written, spread=read.spread)
    if state.flow is not None:
        yield Influence(path, path, ZERO, ZERO, 1, owner, flow=True, places=places)
        for read in reads(state.flow, positive):
            cause = model.resolve(read.path)
            if cause != path:
                either = cause in model.commands
                yield Influence(
                    cause, path, read.low, read.high, read.sign, owner, flow=True, places=places, either=either
                )


def _acting(model: Model, loop: SampledLoop, positive: set[str]) -> Iterator[Influence]:
    late = loop.period + max(loop.hold_down, loop.hold_up) + (loop.cooldown or ZERO)
    place = loop.source.place
    sensed = [*reads(loop.measured, positive)] if loop.measured is not None else []
    direction = _direction(loop)
    looked = [_Reads(one.path, one.low, one.high, one.sign * direction, one.spread) for one in sensed]
    conditions = [loop.trigger, loop.enter, loop.leave, *(rule.when for rule in loop.rules)]
    changes = [loop.by, loop.to, loop.setpoint, *(part for rule in loop.rules for part in (rule.by, rule.to))]
    for tree in (*conditions, *changes):
        looked += [_Reads(read.path, read.low, read.high, 0) for read in reads(tree, positive)] if tree else []
    if _keeps(loop):
        yield Influence(loop.signal, loop.signal, loop.period, loop.period, 1, loop.name, places=(place,))
    yield Influence(loop.name, loop.signal, loop.lands, loop.lands + late, 0, loop.name, places=(place,))
    for read in _widest(looked):
        low, high = read.low + loop.lands, read.high + loop.lands + late
        cause = model.resolve(read.path)
        yield Influence(cause, loop.signal, low, high, read.sign, loop.name, places=(place,), period=loop.period)
    yield from _triggered(model, loop, looked)


def _triggered(model: Model, loop: SampledLoop, looked: Iterable[_Reads]) -> Iterator[Influence]:
    """A loop's name is a signal too: whether it is triggered, which it may remember."""
    place = loop.source.place
    yield Influence(loop.name, loop.name, loop.period, loop.period, 1, loop.name, places=(place,))
    for read in _widest(looked):
        cause = model.resolve(read.path)
        if cause != loop.name:
            high = read.high + loop.period
            yield Influence(cause, loop.name, read.low, high, 0, loop.name, places=(place,), period=loop.period)


def _keeps(loop: SampledLoop) -> bool:
    """Does what was written before matter for what is written now?  Not where each write sets it anew."""
    anew = loop.law == "set" and not loop.rules and _always(loop.trigger) and not loop.relay
    held = loop.hold_down or loop.hold_up or loop.cooldown or loop.rates
    return not anew or bool(held)


def _always(trigger: Tree | None) -> bool:
    return trigger is None or trigger == Truth(value=True)


def _direction(loop: SampledLoop) -> int:
    """Proportional loops follow what they measure; of others only the trigger says which way."""
    return 1 if loop.law == "proportional" else 0


def _widest(looked: Iterable[_Reads]) -> Iterator[_Reads]:
    """For each name its delays, those that overlap as one range."""
    ways: dict[str, list[_Reads]] = {}
    for read in sorted(looked, key=lambda read: read.low):
        mine = ways.setdefault(read.path, [])
        if not mine or read.low > mine[-1].high:
            mine.append(read)
            continue
        last = mine.pop()
        sign = last.sign if last.sign == read.sign else 0
        mine.append(_Reads(read.path, last.low, max(last.high, read.high), sign, last.spread or read.spread))
    for parallel in ways.values():
        yield from parallel


def reads(tree: Tree, positive: set[str], sign: int = 1) -> tuple[_Reads, ...]:
    """The names that an expression reads, each with its delays and the sign of its influence (0: either)."""
    return tuple(_widest(_read(tree, positive, sign)))


def _read(tree: Tree, positive: set[str], sign: int) -> Iterator[_Reads]:
    match tree:
        case Name(path=path):
            yield _Reads(path, ZERO, ZERO, sign)
        case Arithmetic(op="+", left=left, right=right):
            yield from (*_read(left, positive, sign), *_read(right, positive, sign))
        case Arithmetic(op="-", left=left, right=right):
            yield from (*_read(left, positive, sign), *_read(right, positive, -sign))
        case Arithmetic(op=op, left=left, right=right):
            other = sign * _sign_of(right, positive)
            yield from _read(left, positive, other)
            yield from _read(right, positive, sign * _sign_of(left, positive) * (1 if op == "*" else -1))
        case Call(function="delayed" | "mean_over" | "sampled" as name, arguments=(inner, size)):
            yield from _late(_read(inner, positive, sign), name, size)
        case Call(function=name, arguments=parts):
            for part in parts:
                yield from _read(part, positive, sign if name in _KEEPS else 0)
        case Held(condition=inner, duration=size):
            yield from (_Reads(one.path, one.low, one.high + size, 0) for one in _read(inner, positive, 0))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            yield from _read(condition, positive, 0)
            yield from (*_read(then, positive, sign), *_read(otherwise, positive, sign))
        case Compare() | Logic():
            for part in children(tree):
                yield from _read(part, positive, 0)


def _late(inner: Iterable[_Reads], name: str, size: Tree) -> Iterator[_Reads]:
    """A pure delay is one delay; a window or a sampler is all up to its length."""
    by = size.value if isinstance(size, Number) else ZERO
    for read in inner:
        low, spread = read.low + (by if name == "delayed" else ZERO), read.spread or name != "delayed"
        yield _Reads(read.path, low, read.high + by, read.sign, spread)


def _sign_of(tree: Tree, positive: set[str]) -> int:
    """+1 where the value cannot be negative, -1 where it cannot be positive, 0 where either is possible."""
    match tree:
        case Number(value=number):
            return (number > 0) - (number < 0)
        case Name(path=path):
            return 1 if path in positive else 0
        case Arithmetic(op="*" | "/", left=left, right=right):
            return _sign_of(left, positive) * _sign_of(right, positive)
        case Arithmetic(op="+", left=left, right=right):
            first, second = _sign_of(left, positive), _sign_of(right, positive)
            return first if first == second else 0
        case _:
            return 0


def _owner(path: str) -> str:
    return path.partition(".")[0]


def _place(model: Model, path: str) -> Place:
    """Where the design speaks of a signal."""
    if path in model.states:
        return model.states[path].place
    if path in model.commands:
        return model.commands[path].place
    if path in model.constants:
        return model.constants[path].place
    owner, _, key = path.partition(".")
    component = model.design.components.get(owner)
    if component is not None:
        constant = component.constants.get(key)
        return getattr(constant, "place", None) or component.place
    workload = model.design.workload.get(owner)
    return workload.place if workload is not None else Place(model.design.file, 1, 1, 1, 1)


def columns_of(telemetry: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """signal of the design -> column of the telemetry, by the design's `telemetry:` section, else by equal names."""
    there = set(columns)
    found = {name: name for name in there}
    return found | {signal: column for signal, column in telemetry.items() if column in there}
