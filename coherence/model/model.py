"""Defines the model that all engines share: a design with everything inlined and resolved.

States, commands, constants, inputs and outputs are signals with full paths; every loop is sampled;
the instant has four phases (deliver, sample, decide, step).  What the model cannot carry is listed
in `gaps`, so that an engine answers `undecided: needs ...` instead of guessing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from coherence.base.places import Place
from coherence.base.queries import QueryTable
from coherence.base.reads import ReadTable, keeps_reads, kept_property, notes_reading, rebuilt
from coherence.base.units import ONE, Dimension
from coherence.language.design import Design, Loop
from coherence.language.expressions.tree import Tree, names
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Promise, SensorLink
from coherence.model import laws


@dataclass(frozen=True)
class Interval:
    """low <= x <= high; None is unbounded."""

    low: Fraction | None
    high: Fraction | None

    @property
    def exact(self) -> bool:
        return self.low is not None and self.low == self.high

    def clip(self, value: Fraction) -> Fraction:
        """Returns the nearest value inside."""
        if self.low is not None and value < self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value


EVERYTHING = Interval(None, None)


@dataclass(frozen=True)
class StateSwitch:
    """A state's value `on` from where `enter` becomes true, and `off` from where `leave` does; `enter` wins.

    Without `leave` it stays on; `off` None: the value at which the state begins.
    """

    enter: Tree
    leave: Tree | None
    off: Fraction | None
    on: Fraction

    @property
    def trees(self) -> tuple[Tree, ...]:
        """Returns both conditions."""
        return (self.enter,) if self.leave is None else (self.enter, self.leave)


@keeps_reads
@dataclass(frozen=True)
class State:
    """A state with exactly one of `next` (every `step` seconds, from `phase`), `flow` (per second) and `switch`."""

    path: str
    initial: Interval
    range: Interval
    next: Tree | None
    flow: Tree | None
    step: Fraction | None
    integer: bool
    dimension: Dimension
    place: Place
    switch: StateSwitch | None = None

    @property
    def trees(self) -> tuple[Tree, ...]:
        """Returns every expression that says where the state goes."""
        moves = tuple(tree for tree in (self.next, self.flow) if tree is not None)
        return moves if self.switch is None else (*moves, *self.switch.trees)


@keeps_reads
@dataclass(frozen=True)
class Command:
    """A signal that only loops write."""

    path: str
    initial: Interval
    range: Interval
    integer: bool
    dimension: Dimension
    place: Place


@notes_reading("range", "varies")
@dataclass(frozen=True)
class Constant:
    """One unknown constant in a range (`varies`: an input that takes a new value at every sample)."""

    path: str
    range: Interval
    varies: bool
    dimension: Dimension
    place: Place
    also: tuple[Place, ...] = ()  # of the shares that a rate was multiplied with


CONDITIONS, AIM, CHANGES = ("trigger", "enter", "leave"), ("measured", "setpoint", "ready"), ("by", "to")
EXPRESSIONS = (*CONDITIONS, *AIM, *CHANGES)  # of a sampled loop, beside its rules
AMOUNTS: Mapping[str, tuple[str, ...]] = {"none": (), "rules": (), "proportional": AIM}  # that a law evaluates


@keeps_reads
@dataclass(frozen=True)
class SampledRule:
    """A rule of a loop: under its condition a step, or a value."""

    when: Tree
    by: Tree | None
    to: Tree | None


@keeps_reads
@dataclass(frozen=True)
class SampledLoop:
    """A loop that reads and writes at phase + k * period."""

    name: str
    period: Fraction
    phase: Fraction | None  # None: not stated; 0 in execution, every value in proofs
    rank: Fraction
    order: int  # place in the declaration
    trigger: Tree | None  # None: always
    enter: Tree | None
    leave: Tree | None
    rules: tuple[SampledRule, ...]
    law: str  # what `laws.law_of` says
    signal: str
    by: Tree | None
    to: Tree | None
    measured: Tree | None
    setpoint: Tree | None
    tolerance: Fraction
    bounds: Interval
    rates: tuple[RateLimit, ...]
    hold_down: Fraction
    hold_up: Fraction
    cooldown: Fraction | None
    lands: Fraction
    mode: str
    counts_commanded: bool
    integer: bool  # what `laws.counts_members` says: the law and the percentages of its rates are rounded
    source: Loop
    ready: Tree | None = None  # the members that a proportional law multiplies; None: all
    idle: bool = True  # the others count as 0 going up

    @property
    def relay(self) -> bool:
        return self.enter is not None

    @property
    def counts_landed(self) -> bool:
        """Returns whether the law counts from the value that landed last, not from the last command."""
        return self.law == "proportional" and not self.counts_commanded

    @property
    def has_whole_rates(self) -> bool:
        """Returns whether its rates let whole changes through where the command is whole: percentages are rounded."""
        return all(rate.by is None or rate.by.denominator == 1 for rate in self.rates)

    @kept_property
    def recommendations(self) -> tuple[laws.Recommendation, ...]:
        """Returns the formulas that the law recommends: one, or one for each rule; none without a signal."""
        if self.rules:
            return tuple(laws.moved(rule.by, rule.to) for rule in self.rules)
        if self.law == "none":
            return ()
        if self.law != "proportional":
            return (laws.moved(self.by, self.to),)
        assert self.measured is not None
        assert self.setpoint is not None
        law = laws.proportional(self.measured, self.setpoint, tolerance=self.tolerance, whole=self.integer)
        if self.ready is not None:
            law = laws.of_the_ready(law, self.ready, tolerance=self.tolerance, whole=self.integer, idle=self.idle)
        return (law,)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """Returns every expression that the loop evaluates: of what it aims at, only what its law compares."""
        return tuple(tree for take in self.expressions() if (tree := take()) is not None)

    def expressions(self) -> Iterator[Callable[[], Tree | None]]:
        """Yields what takes each expression that the loop evaluates; whoever takes one has read no other."""
        yield from (partial(getattr, self, name) for name in (*CONDITIONS, *AMOUNTS.get(self.law, CHANGES)))
        yield from (partial(getattr, rule, name) for rule in self.rules for name in ("when", "by", "to"))


def in_turn(loops: Sequence[SampledLoop]) -> Sequence[SampledLoop]:
    """Returns loops that decide at one instant, one after another as given; of several the ranks are read with that."""
    if len(loops) > 1:
        for loop in loops:
            assert loop.rank is not None
    return loops


@dataclass(frozen=True)
class RateLimit:
    """At most `by` or a share `percent` of change per `per` seconds, upward, downward or both."""

    by: Fraction | None
    percent: Fraction | None
    per: Fraction
    up: bool
    down: bool


@dataclass(frozen=True)
class Gap:
    """Something that a question would need and the design does not say, or the model cannot carry."""

    of: str
    needs: str
    place: Place


@dataclass(frozen=True)
class Model:
    """Everything that a run needs.  `outputs` are in an order in which they can be computed."""

    design: Design
    states: Mapping[str, State]
    commands: Mapping[str, Command]
    constants: Mapping[str, Constant]
    inputs: Mapping[str, Dimension | None]
    outputs: Mapping[str, Tree]
    loops: tuple[SampledLoop, ...]
    promises: Mapping[str, Promise]
    gaps: tuple[Gap, ...] = ()
    abstractions: tuple[str, ...] = ()
    index: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def queries(self) -> QueryTable:
        """Returns the table of what was computed from the model."""
        return QueryTable()

    def resolve(self, path: str) -> str:
        """Returns the full path of a name written in the design."""
        return self.index.get(path, path)

    def kind(self, path: str) -> str:
        """Returns state, command, constant, output, loop or input."""
        tables = {"state": self.states, "command": self.commands, "constant": self.constants, "output": self.outputs}
        for kind, table in tables.items():
            if path in table:
                return kind
        return "loop" if path in self._loop_names else "input"

    @functools.cached_property
    def _loop_names(self) -> frozenset[str]:
        return frozenset(loop.name for loop in self.loops)

    @functools.cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        """Returns for each name the outputs and states that are computed from it."""
        by_name: dict[str, dict[str, None]] = {}
        trees = list(self.outputs.items())
        trees += [(path, tree) for path, state in self.states.items() for tree in (state.next, state.flow) if tree]
        for path, tree in trees:
            for name in names(tree):
                by_name.setdefault(name, {})[path] = None
        return {name: tuple(paths) for name, paths in by_name.items()}


def changed_outputs(model: Model, change: Callable[[Tree], Tree]) -> Mapping[str, Tree]:
    """Returns the outputs of a model, each formula changed; whoever takes one has read no other."""
    outputs: ReadTable[Tree] = ReadTable()
    for path in model.outputs:
        outputs.put(path, partial(lambda path: change(model.outputs[path]), path))
    return outputs


def changed_loop(loop: SampledLoop, change: Callable[[Tree], Tree]) -> SampledLoop:
    """Returns a loop with each of its expressions changed; whoever takes one has read no other."""

    def changed(part: SampledLoop | SampledRule, name: str) -> Tree | None:
        tree = getattr(part, name)
        return None if tree is None else change(tree)

    def changed_rule(rule: SampledRule) -> SampledRule:
        return rebuilt(rule, **{name: partial(changed, rule, name) for name in ("when", "by", "to")})

    trees = {name: partial(changed, loop, name) for name in EXPRESSIONS}
    return rebuilt(loop, rules=lambda: tuple(map(changed_rule, loop.rules)), **trees)


def some_outputs(model: Model, paths: Collection[str]) -> Mapping[str, Tree]:
    """Returns those outputs of a model, in its order; whoever takes one has read no other."""
    outputs: ReadTable[Tree] = ReadTable()
    for path in model.outputs:
        if path in paths:
            outputs.put(path, partial(model.outputs.__getitem__, path))
    return outputs


def interval(value: Quantity) -> Interval:
    """Returns the range of a quantity."""
    return Interval(value.low, value.high)


def commanded(model: Model, path: str) -> Interval:
    """Returns an interval that a command never leaves: its start, and the bounds of the loops that write it."""
    command = model.commands[path]
    spans = [command.initial, *(loop.bounds for loop in model.loops if loop.signal == path)]
    lows = [command.range.clip(span.low) for span in spans if span.low is not None]
    highs = [command.range.clip(span.high) for span in spans if span.high is not None]
    low = min(lows) if len(lows) == len(spans) else command.range.low
    return Interval(low, max(highs) if len(highs) == len(spans) else command.range.high)


def unit_of(model: Model, path: str) -> Dimension:
    """Returns the dimension of a signal, or a bare number where it is unknown."""
    for table in (model.states, model.commands, model.constants):
        if path in table:
            return table[path].dimension
    return ONE


SENSOR_SAMPLERS = frozenset({"scrape", "relist"})


def sensor_delay(chain: tuple[SensorLink, ...]) -> tuple[Fraction, Fraction]:
    """Returns (mean, maximum) age (s) of what a sensor chain reports, without the reader's own period.

    A sampler of period T adds T/2 on average and T at most; a window W adds W/2 and W; irate and
    `last` use samples: irate spans the last two (mean age one scrape, oldest two).
    SOURCE: conditions.md T11.
    """
    mean = longest = Fraction(0)
    scrape = Fraction(0)
    for link in chain:
        if link.duration is None:
            continue
        size = link.duration.high
        if link.kind in SENSOR_SAMPLERS:
            scrape = size if link.kind == "scrape" else scrape
            mean, longest = mean + size / 2, longest + size
        elif link.kind == "irate":
            mean, longest = mean + scrape / 2, longest + scrape
        elif link.kind != "last":
            mean, longest = mean + size / 2, longest + size
    return mean, longest
