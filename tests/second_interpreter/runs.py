"""Runs loops and plants by the rules of the one model, plainly: it imports the read design and nothing of the engines.

Rule 1: an instant delivers, samples, decides by rank, steps.  Rule 2: a delayed value is the sampled value of then.
Rule 4: `for h` counts from the first true sample in a row.  What a loop does at a sample is in `deciding`.
"""

from __future__ import annotations

import bisect
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from coherence.language.design import Design, Loop
from coherence.language.expressions import tree as node
from coherence.language.expressions.parse import parse
from coherence.language.schema_kinds import Formula, Quantity
from tests.second_interpreter.deciding import decide, seconds, signal_of

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: Fraction(a) / b,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "ceil": math.ceil, "floor": math.floor,
}  # fmt: skip
parsed = functools.cache(parse)
World = dict[str, Any]
Starts = Mapping[str, Fraction]
ZERO = Fraction(0)


class Ends(NamedTuple):
    """The lowest and the highest of the values that are tried of a signal."""

    low: Fraction
    high: Fraction


OUTSIDE = Ends(ZERO, Fraction(10))


class SecondRun:
    """One run.  `values`: starts and constants by full path; `draw` gives what varies, and orders of equal rank."""

    def __init__(self, design: Design, values: Starts, phases: Starts, draw: Callable[[list[Any]], Any]) -> None:
        self.design, self.draw, self.time = design, draw, ZERO
        self.plants = {c.name: c for c in design.components.values() if c.state is not None}
        self.varying: dict[str, Quantity | Ends] = {}
        self.outputs: dict[str, tuple[str, Any]] = {}
        self.bare = {loop.name: loop.name for loop in design.loops.values()}
        self.world: World = {**values, **dict.fromkeys(design.loops, False)}
        for component in design.components.values():
            for name, value in component.constants.items():
                self._declare(component.name, name, value)
            if component.state is not None:
                variable = component.state.text.split("'")[0].strip()
                self.bare[variable] = f"{component.name}.{variable}"
        self.commanded = {path: self.world[path] for path in (signal_of(x) for x in design.loops.values()) if path}
        self.phases = {x.name: phases.get(x.name, seconds(x, "phase")) for x in design.loops.values()}
        self.flying: list[tuple[Fraction, str, Fraction]] = []
        self.log: list[tuple[Fraction, World, World]] = []
        self.memory: dict[Any, Any] = {}
        self.ties: tuple[str, ...] = ()  # the order of loops of equal rank; empty: any, at each instant
        self.course: Callable[[str, Fraction], Fraction] = lambda path, _: draw(
            [self.varying[path].low, self.varying[path].high]
        )

    def _declare(self, thing: str, name: str, value: Any) -> None:
        path = f"{thing}.{name}"
        self.bare[name] = path
        if isinstance(value, Formula):
            self.outputs[path] = (thing, value.tree)
        elif value.varies:
            self.varying[path] = value
        else:
            self.world.setdefault(path, value.low)

    # -- expressions ---------------------------------------------------------------------------------------

    def value(self, tree: Any, world: World, owner: str) -> Any:
        """Returns the value of an expression in a world, as its owner reads it; every part is looked at."""

        def of(part: Any) -> Any:
            return self.value(part, world, owner)

        match tree:
            case node.Number(value=value) | node.Truth(value=value):
                return value
            case node.Name(path=path):
                path = path if path in world or path in self.outputs else self.bare.get(path, path)
                if path not in world and path not in self.outputs:
                    self._meet(path, world)
                return world[path] if path in world else self.value(self.outputs[path][1], world, owner)
            case node.Arithmetic(op=op, left=left, right=right) | node.Compare(op=op, left=left, right=right):
                return OPERATORS[op](of(left), of(right))
            case node.Logic(op="not", terms=(term,)):
                return not of(term)
            case node.Logic(op=op, terms=terms):
                return (all if op == "and" else any)([of(term) for term in terms])
            case node.Choose(condition=condition, then=then, otherwise=otherwise):
                return of(then) if of(condition) else of(otherwise)
            case node.Held(condition=condition, duration=duration):
                key = ("since", owner, condition)
                since = self.memory.get(key)
                since = (self.time if since is None else since) if of(condition) else None
                self.memory[key] = since
                return since is not None and self.time - since >= duration
            case node.Call(function="delayed", arguments=(inner, late)):
                return self.value(inner, self.at(self.time - of(late), world), owner)
            case node.Call(function=name, arguments=arguments):
                return FUNCTIONS[name](*(of(argument) for argument in arguments))
        raise NotImplementedError(repr(tree))

    def _meet(self, path: str, world: World) -> None:
        """Lets an outside signal take any of some values from now on, and from then on at each instant."""
        self.varying[path] = OUTSIDE
        world[path] = self.world[path] = self.course(path, self.time)

    def at(self, time: Fraction, now: World) -> World:
        """Returns the world as it was sampled then; between instants as it was left; before 0 as it began."""
        if time >= self.time:
            return now
        number = bisect.bisect_right(self.log, time, key=lambda entry: entry[0]) - 1
        if number < 0:
            return self.first
        at, sampled, after = self.log[number]
        return sampled if at == time else after

    # -- one instant ---------------------------------------------------------------------------------------

    def times(self, until: Fraction) -> list[Fraction]:
        """Returns the times of all samples and steps; commands that fly may land between them."""
        grids = [(self.phases[x.name], seconds(x, "period")) for x in self.design.loops.values()]
        grids += [(ZERO, plant.step.low) for plant in self.plants.values() if plant.step is not None]
        return sorted({begin + k * every for begin, every in grids for k in range(int(until / every) + 1)})

    def run(self, until: Fraction) -> list[tuple[Fraction, World, World]]:
        """Returns (time, as sampled, afterwards) of every instant."""
        self.first = dict(self.world)
        due = self.times(until)
        while due:
            self.time = min([due[0], *(entry[0] for entry in self.flying)])
            self._instant(scheduled=due[0] == self.time)
            due = due[due[0] == self.time :]
        return self.log

    def _instant(self, *, scheduled: bool) -> None:
        for _, path, value in sorted((f for f in self.flying if f[0] <= self.time), key=lambda f: f[0]):
            self.world[path] = value
        self.flying = [f for f in self.flying if f[0] > self.time]
        self.world.update({path: self.course(path, self.time) for path in self.varying})
        sampled = dict(self.world)
        seen = dict(sampled)
        for loop in self._order() if scheduled else ():
            decide(self, loop, seen)
        if scheduled:
            self.world.update(self._stepped())
        self.log.append((self.time, sampled, dict(self.world)))

    def _order(self) -> list[Loop]:
        due = [x for x in self.design.loops.values() if self._due(self.phases[x.name], seconds(x, "period"))]
        ties = {x.name: self.ties.index(x.name) if self.ties else self.draw(list(range(24))) for x in due}
        return sorted(due, key=lambda x: (x.rank.low if x.rank else Fraction(1000), ties[x.name]))

    def _due(self, begin: Fraction, every: Fraction) -> bool:
        return self.time >= begin and (self.time - begin) % every == 0

    def _stepped(self) -> World:
        fresh = {}
        for name, plant in self.plants.items():
            assert plant.state is not None
            assert plant.step is not None
            variable, _, formula = plant.state.text.partition("=")
            if self._due(ZERO, plant.step.low):
                fresh[f"{name}.{variable.strip(' ')[:-1].strip()}"] = self.value(parsed(formula), self.world, name)
        return fresh


def truths(run: SecondRun, condition: Any, log: Sequence[tuple[Fraction, World, World]]) -> list[bool]:
    """Returns the condition as sampled and after each instant."""
    held = []
    for time, sampled, after in log:
        run.time = time
        held += [bool(run.value(condition, world, "<promise>")) for world in (sampled, after)]
    return held
