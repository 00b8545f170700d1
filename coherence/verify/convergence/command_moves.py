"""Lists what loops may do to a command, each under a condition over what it may see, and how old that may be.

A look of a loop reads the command at several times: now, and as far back as delays, windows and samplers reach.  What
changes is another name at each of them; of everything but the command it is any value of its range.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Compare, Held, Logic, Name, Number, Tree, Truth, rebuilt, walk
from coherence.language.words import MEMBERS
from coherence.model.model import EVERYTHING, Interval, Model, SampledLoop
from coherence.simulate.execute.lookback import LOOK_BACK, duration_of
from coherence.verify.facts.ranges import enclosure, hull
from coherence.verify.facts.satisfiability import SatQuery, opposite

UP, DOWN = "up", "down"


class NotKnownError(NotExactError):
    """Raised where a loop moves its command by a law, a window or a bound that is not followed here."""


@dataclass(frozen=True)
class CommandMove:
    """A way in which a loop may move its command: by at most `size`, or to `level`, where `when` holds.

    `looks`: names in `when` that stand for the command at one look, with their ages (s); `ranges` and `whole` of all
    names in it.  `first`: asks for a first act since the condition began to hold; where there is none, it never acts.
    """

    loop: SampledLoop
    way: str
    size: Fraction
    level: Fraction | None
    when: Tree
    looks: Mapping[str, Fraction]
    ranges: Mapping[str, Interval]
    whole: frozenset[str]
    first: SatQuery | None = None

    @property
    def oldest(self) -> Fraction:
        """Returns the age of its oldest look (s)."""
        return max(self.looks.values())

    @property
    def is_present(self) -> bool:
        """Decides whether it looks at nothing but the command as it finds it."""
        return len(self.looks) == 1 and self.oldest == 0


def writers_of(model: Model, signal: str) -> list[SampledLoop]:
    """Returns the loops that write a command."""
    return [loop for loop in model.loops if loop.signal == signal and loop.law != "unset"]


def moves_of(model: Model, loop: SampledLoop, fixed: Sequence[str], others: str | None = None) -> Iterator[CommandMove]:
    """Yields all that a loop may do to its command; `others`: the only way in which all others move it.

    Raises NotKnownError.
    """
    for number, (condition, by, to) in enumerate(_entries(loop)):
        looks = _Looks(model, loop, f"{loop.name} {number}", frozenset(fixed))
        when, now = looks.at(condition), looks.command()
        if others is not None and isinstance(condition, Held) and loop.lands == 0:
            looks.first = _Looks(model, loop, looks.label, looks.fixed).first_act(condition, others)
        span = enclosure(by, looks) if by is not None and to is None else None
        if span is not None and span.low is not None and span.low > 0 and span.high is not None:
            yield from _steps(looks, when, now, UP, span.high)
        elif span is not None and span.high is not None and span.high < 0 and span.low is not None:
            yield from _steps(looks, when, now, DOWN, -span.low)
        elif to is not None and by is None:
            yield from _sets(looks, when, now, enclosure(to, looks))
        else:
            raise NotKnownError(f"a step of {loop.name} that may go either way")


def _entries(loop: SampledLoop) -> Iterator[tuple[Tree, Tree | None, Tree | None]]:
    """Yields the condition, the step and the value of each rule, or of the loop itself."""
    earlier: tuple[Tree, ...] = ()
    for rule in loop.rules:
        yield Logic("and", (*earlier, rule.when)), rule.by, rule.to
        earlier = (*earlier, opposite(rule.when))
    if not loop.rules and loop.enter is not None and loop.leave is not None:
        yield Logic("or", (loop.enter, opposite(loop.leave))), loop.by, loop.to
    elif not loop.rules:
        yield loop.trigger if loop.trigger is not None else Truth(True), loop.by, loop.to


def _steps(looks: _Looks, when: Tree, now: Name, way: str, size: Fraction) -> Iterator[CommandMove]:
    """Yields a step, and where other loops take the command beyond the bounds of this one, the way back into them."""
    bounds, span = looks.bounds, looks.reached
    end = bounds.high if way == UP else bounds.low
    if end is None:
        raise NotKnownError(f"{looks.loop.name} steps without a bound")
    yield looks.move(way, size, None, when, Compare("<" if way == UP else ">", now, Number(end)))
    if bounds.low is not None and (span.low is None or span.low < bounds.low):
        yield looks.move(UP, Fraction(0), bounds.low, when, Compare("<", now, Number(bounds.low)))
    if bounds.high is not None and (span.high is None or span.high > bounds.high):
        yield looks.move(DOWN, Fraction(0), bounds.high, when, Compare(">", now, Number(bounds.high)))


def _sets(looks: _Looks, when: Tree, now: Name, to: Interval) -> Iterator[CommandMove]:
    if not to.exact or to.low is None:
        raise NotKnownError(f"{looks.loop.name} sets what is not one number")
    level = looks.bounds.clip(to.low)
    yield looks.move(UP, Fraction(0), level, when, Compare("<", now, Number(level)))
    yield looks.move(DOWN, Fraction(0), level, when, Compare(">", now, Number(level)))


@dataclass
class _Looks(Mapping[str, Interval]):
    """Reads a condition of a loop as it looks: what changes is another name at each time in the past.

    As a mapping: the range of each signal of the model.  `fixed`: open constants that are one number at all times.
    """

    model: Model
    loop: SampledLoop
    label: str
    fixed: frozenset[str]
    times: dict[tuple[object, ...], int] = field(default_factory=dict)
    looks: dict[str, Fraction] = field(default_factory=dict)
    ranges: dict[str, Interval] = field(default_factory=dict)
    facts: list[Tree] = field(default_factory=list)
    first: SatQuery | None = None

    @property
    def bounds(self) -> Interval:
        """Returns the least and the greatest command of the loop."""
        return bounds_of(self.model, self.loop)

    @property
    def reached(self) -> Interval:
        """Returns the interval of all values of the command of the loop."""
        return self[self.loop.signal]

    def __getitem__(self, path: str) -> Interval:
        if path in self.model.commands:
            command = self.model.commands[path]
            return hull([command.initial, *(bounds_of(self.model, loop) for loop in writers_of(self.model, path))])
        if path in self.model.constants:
            return self.model.constants[path].range
        return self.model.states[path].range if path in self.model.states else EVERYTHING

    def __iter__(self) -> Iterator[str]:
        return itertools.chain(self.model.commands, self.model.constants, self.model.states)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def command(self) -> Name:
        """Returns the command as the loop finds it."""
        if self.loop.lands == 0:
            known = self.at(Name(self.loop.signal))
            assert isinstance(known, Name)
            return known
        now = Name(f"{self.loop.signal} as commanded [{self.label}]")
        self._look(now.path, Fraction(0))
        return now

    def at(self, tree: Tree, way: tuple[object, ...] = (), age: Fraction = Fraction(0)) -> Tree:
        """Returns what a tree is at a look, `way` back in time.  Raises NotExactError."""
        match tree:
            case Name(path=path) if path in self.model.outputs:
                return self.at(self.model.outputs[path], way, age)
            case Name(path=path):
                return self._name(path, way, age)
            case Held(condition=condition):
                return Logic("and", (self.at(condition, way, age), self._fresh("held", tree, way)))
            case Call(function="previous", arguments=(inner, *_)):
                return self.at(inner, (*way, "previous"), age + self.loop.period)
            case Call(function=function, arguments=(inner, seconds)) if function in LOOK_BACK:
                earlier = age + duration_of(tree, _Longest(self.model))
                if function != "mean_over":
                    return self.at(inner, (*way, (function, seconds if function == "delayed" else tree)), earlier)
                mean = self._fresh("mean", tree, way)
                low, high = (self.at(inner, (*way, (tree, side)), earlier) for side in ("low", "high"))
                self.facts += [Compare("<=", low, mean), Compare("<=", mean, high)]
                return mean
        return rebuilt(tree, lambda part: self.at(part, way, age))

    def first_act(self, held: Held, others: str) -> SatQuery | None:
        """Asks for a first act since the condition began to hold, where it looks back less far than it must hold.

        Derivation: let t be the sample at which it acts, D the time that the condition has held at all samples, d < D a
        delay in it, and s the last sample before t - d, which is one of those.  Between s and t the loop has not
        acted, so the others alone have moved the command: upward, x(s) <= x(t - d) <= x(t), and the condition holds of
        what is seen at s.  Limit case: nobody moves the command, and it is the same at all three.
        """
        terms = [self.at(held)]
        for call in dict.fromkeys(self._delays(held.condition)):
            if duration_of(call, _Longest(self.model)) >= held.duration:
                continue
            earlier = ("sample before", call.arguments[1])
            ways: tuple[tuple[object, ...], ...] = (earlier, (("delayed", call.arguments[1]),), ())
            seen = [self.at(Name(self.loop.signal), way, held.duration) for way in ways]
            seen = seen if others == UP else seen[::-1]
            terms += [Compare("<=", one, other) for one, other in itertools.pairwise(seen)]
            terms.append(self.at(held.condition, earlier, held.duration))
        if len(terms) == 1:
            return None
        return SatQuery((*terms, *self.facts), dict(self.ranges), self._whole())

    def _delays(self, tree: Tree) -> Iterator[Call]:
        """Yields the delays of a tree, in its outputs too."""
        for part in walk(tree):
            if isinstance(part, Name) and part.path in self.model.outputs:
                yield from self._delays(self.model.outputs[part.path])
            elif isinstance(part, Call) and part.function == "delayed":
                yield part

    def _time(self, way: tuple[object, ...]) -> str:
        return f"[{self.label} {self.times.setdefault(way, len(self.times))}]"

    def _fresh(self, what: str, tree: Tree, way: tuple[object, ...]) -> Name:
        return Name(f"{what} {self._time((*way, what, tree))}")

    def _name(self, path: str, way: tuple[object, ...], age: Fraction) -> Name:
        constant = self.model.constants.get(path)
        if constant is not None and (constant.range.exact or path in self.fixed):
            self.ranges[path] = constant.range
            return Name(path)
        name = f"{path} {self._time(way)}"
        self.ranges[name] = self[path]
        if path == self.loop.signal:
            self._look(name, age + self.loop.lands)
        return Name(name)

    def _look(self, name: str, age: Fraction) -> None:
        self.looks[name], self.ranges[name] = age, self.reached

    def move(self, way: str, size: Fraction, level: Fraction | None, when: Tree, inside: Tree) -> CommandMove:
        """Returns a move that is made where `when` holds and the command is `inside`."""
        condition = Logic("and", (when, inside, *self.facts))
        looks, ranges = dict(self.looks), dict(self.ranges)
        return CommandMove(self.loop, way, size, level, condition, looks, ranges, self._whole(), self.first)

    def _whole(self) -> frozenset[str]:
        return frozenset(self.looks) if _stays_whole(self.model, self.loop.signal) else frozenset()


def bounds_of(model: Model, loop: SampledLoop) -> Interval:
    """Returns the least and the greatest command of a loop, within the range of the signal."""
    limits = model.commands[loop.signal].range
    low, high = (None if end is None else limits.clip(end) for end in (loop.bounds.low, loop.bounds.high))
    return Interval(limits.low if low is None else low, limits.high if high is None else high)


def _stays_whole(model: Model, signal: str) -> bool:
    """Decides whether a command begins at a whole number, and every step, value and bound of its writers is one too.

    What does not count members may begin between whole numbers where no start is stated.
    """
    command, numbers = model.commands[signal], list[Fraction | None]()
    for loop in writers_of(model, signal):
        amounts = (tree for _, by, to in _entries(loop) for tree in (by, to) if tree is not None)
        numbers += [tree.value if isinstance(tree, Number) else Fraction(1, 2) for tree in amounts]
        numbers += [loop.bounds.low, loop.bounds.high]
    numbers += [command.range.low, command.range.high, *([command.initial.low] if command.initial.exact else [])]
    begins = command.initial.exact or signal.rpartition(".")[2] in MEMBERS
    return command.integer and begins and all(number is None or number.denominator == 1 for number in numbers)


class _Longest(dict[str, Fraction]):
    """The longest delay or window that each constant may be (s)."""

    def __init__(self, model: Model) -> None:
        super().__init__({path: c.range.high for path, c in model.constants.items() if c.range.high is not None})
