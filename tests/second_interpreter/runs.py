"""Runs loops and plants by the rules of the one model, plainly: it imports the read design and nothing of the engines.

Rule 1: an instant delivers, samples, decides by rank, steps.  Rule 2: a delayed value is the sampled value of then.
Rule 4: windows are closed, `for h` counts from the first true sample in a row.  Rule 6: recommendation, hold windows,
rate limits, bounds, cooldown; a value outside its bounds goes to the bound at once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from coherence.language.design import Design, Loop, Relay
from coherence.language.expressions import tree as node
from coherence.language.expressions.parse import parse
from coherence.language.schema_kinds import Formula, Quantity

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: Fraction(a) / b,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "ceil": math.ceil, "floor": math.floor,
}  # fmt: skip
World = dict[str, Any]
Starts = Mapping[str, Fraction]
ZERO = Fraction(0)


class SecondRun:
    """One run.  `values`: starts and constants by full path; `draw` gives what varies, and orders of equal rank."""

    def __init__(self, design: Design, values: Starts, phases: Starts, draw: Callable[[list[Any]], Any]) -> None:
        self.design, self.draw, self.time = design, draw, ZERO
        self.plants = {c.name: c for c in design.components.values() if c.state is not None}
        self.varying: dict[str, Quantity] = {}
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

    def at(self, time: Fraction, now: World) -> World:
        """Returns the world as it was sampled then; between instants as it was left; before 0 as it began."""
        if time >= self.time:
            return now
        before = [entry for entry in self.log if entry[0] <= time]
        return (before[-1][1] if before[-1][0] == time else before[-1][2]) if before else self.first

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
            self._decide(loop, seen)
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
                fresh[f"{name}.{variable.strip(' ')[:-1].strip()}"] = self.value(parse(formula), self.world, name)
        return fresh

    # -- one loop ------------------------------------------------------------------------------------------

    def _decide(self, loop: Loop, seen: World) -> None:
        acts, wish = self._wish(loop, seen)
        self.world[loop.name] = seen[loop.name] = acts
        if wish is None:
            return
        path, value = signal_of(loop), self._limited(loop, wish)
        if value is None:
            return
        if value != self.commanded[path]:
            self.memory["changed", loop.name] = self.time
        self.commanded[path] = value
        if seconds(loop, "lands"):
            self.flying.append((self.time + seconds(loop, "lands"), path, value))
        else:
            self.world[path] = seen[path] = value

    def _wish(self, loop: Loop, seen: World) -> tuple[bool, Any]:
        """Returns whether the loop is triggered, and what its law recommends (None: nothing)."""

        def of(value: Any) -> Any:
            return value.low if isinstance(value, Quantity) else self.value(value.tree, seen, loop.name)

        act = loop.actuation
        assert act is not None
        path = signal_of(loop)
        if loop.rules:
            true = [rule for rule in loop.rules if of(rule.when)]  # all are looked at, the first true one wins
            if not true:
                return False, None
            return True, of(true[0].to) if true[0].to is not None else self.commanded[path] + of(true[0].by)
        if isinstance(loop.trigger, Relay):
            enter, leave = of(loop.trigger.enter), of(loop.trigger.leave)
            on = enter or (self.world[loop.name] and not leave)
        else:
            on = loop.trigger is None or of(loop.trigger)
        if not on or not path:
            return on, None
        if act.to is not None or act.by is not None:
            return on, of(act.to) if act.to is not None else self.commanded[path] + of(act.by)
        assert loop.target is not None
        ratio = Fraction(of(loop.target.signal)) / of(loop.target.setpoint)
        slack = loop.target.tolerance.low if loop.target.tolerance else 0
        current = self.commanded[path] if act.count and act.count.text == "commanded" else self.world[path]
        whole = all(end.low.denominator == 1 for end in act.bounds if isinstance(end, Quantity))
        scaled = current * ratio
        return on, current if 1 - slack <= ratio <= 1 + slack else math.ceil(scaled) if whole else scaled

    def _limited(self, loop: Loop, wish: Any) -> Any:
        """Returns the wish after hold windows, rate limits, bounds and cooldown; None where it waits."""
        assert loop.actuation is not None
        now, current = self.time, self.commanded[signal_of(loop)]
        low, high = (end.low for end in loop.actuation.bounds if isinstance(end, Quantity))
        law = not loop.rules and loop.actuation.to is None and loop.actuation.by is None
        wishes: list[Any] = self.memory.setdefault(("wishes", loop.name), [])
        wishes.append((now, wish))
        for key, least in (("hold_down", False), ("hold_up", True)):
            recent = [v for at, v in wishes if at >= now - seconds(loop, key)]
            if seconds(loop, key) and (wish > current if least else wish < current):
                wish = max(current, min(recent)) if least else min(current, max(recent))
                break
        written: list[Any] = self.memory.setdefault(("written", loop.name), [(-math.inf, current)])
        edges = []
        for rate in loop.actuation.rate:
            way = rate.way.text if rate.way else "both"
            if wish != current and way in ("both", "up" if wish > current else "down"):
                assert rate.per is not None
                begin = [v for at, v in written if at <= now - rate.per.low][-1]
                edges.append(begin + (rate.by.low if wish > current else -rate.by.low) if rate.by else begin)
        if edges:
            wish = min(wish, max(edges)) if wish > current else max(wish, min(edges))
        value = min(max(wish, low), high)
        inside = min(max(current, low), high)
        value = inside if inside != current and law else value
        changed = self.memory.get(("changed", loop.name))
        waits = loop.timescale is not None and loop.timescale.cooldown is not None
        if waits and changed is not None and value != current and now - changed <= seconds(loop, "cooldown"):
            return None
        written.append((now, value))
        return value


def signal_of(loop: Loop) -> str:
    """Returns what the loop writes."""
    return loop.actuation.signal.text if loop.actuation and loop.actuation.signal else ""


def seconds(loop: Loop, name: str) -> Fraction:
    """Returns a time of the loop; 0 where it states none."""
    quantity = getattr(loop.timescale, name, None)
    return quantity.high if quantity is not None else ZERO


def truths(run: SecondRun, condition: Any, log: Sequence[tuple[Fraction, World, World]]) -> list[bool]:
    """Returns the condition as sampled and after each instant."""
    found = []
    for number, (time, sampled, after) in enumerate(log):
        run.time, run.log = time, list(log[: number + 1])
        found += [bool(run.value(condition, world, "<promise>")) for world in (sampled, after)]
    return found
