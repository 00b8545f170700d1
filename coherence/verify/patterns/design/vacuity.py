"""a vacuous design: assumptions that contradict each other, or a trigger that no state reaches.

## What
Looks for statements that no run can satisfy: promises that exclude each other, a limit whose floor
lies above its cap or that counts what is always 0, bounds without a value, a trigger whose comparisons
contradict each other; and what waits for it: a timer or promise that begins with what can never happen.

## Why it hurts
Everything is true of a design that has no run: each check would report "no conflict".

## Example
```yaml
coherence: 1
limits: {slots: {counts: pool.busy, at_least: 5, at_most: 3}}
```

## Instead
```yaml
coherence: 1
limits: {slots: {counts: pool.busy, at_least: 3, at_most: 5}}
```

## Source
The one model: vacuous = no run, or a trigger that cannot be reached.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from coherence.base.clock import is_over, left_until, now
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.solver import Outcome, SolverAnswer, unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Component, Design, Limit, Loop, Relay
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree, rename
from coherence.language.names import resolve, state_formula, state_variable
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval, interval
from coherence.verify.facts.satisfiability import TIMEOUT_MS, SatQuery, past_ranges, plain
from coherence.verify.patterns.design import _never

QUESTION = Question("COH105", "vacuous-design", "", fires=Verdict.VACUOUS, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one finding per contradiction."""
    design, states = subject.design, States(subject)
    yield from _promises(states)
    for limit in design.limits.values():
        yield from _limit(subject.design, limit)
    for component in design.components.values():
        yield from _forgotten(component)
    yield from _never.ask(QUESTION, design, partial(_reachable, states))
    for loop in design.loops.values():
        triggers = [loop.trigger] if isinstance(loop.trigger, Formula) else []
        if isinstance(loop.trigger, Relay):
            triggers = [f for f in (loop.trigger.enter, loop.trigger.leave) if f is not None]
        rules = [rule.when for rule in loop.rules if rule.when is not None]
        for word, formula in (*(("the trigger", one) for one in triggers), *(("a rule", one) for one in rules)):
            if formula.text != "always":
                never = f"{word} of {loop.name} can never hold: {formula}"
                yield from _unsatisfiable(states, [formula.tree], never, [formula.place], (loop.name,))
        ends = [b for b in loop.actuation.bounds if isinstance(b, Quantity)] if loop.actuation else []
        if len(ends) == 2 and ends[0].low > ends[1].high:
            places = (ends[0].place.labelled("the lower bound"), ends[1].place.labelled("lies below it"))
            yield QUESTION.vacuous(
                f"{loop.name} has no value within its bounds: {ends[0]} > {ends[1]}",
                places,
                (loop.name,),
                arithmetic({}),
            )


def _reachable(states: States, loop: Loop) -> bool:
    """Returns whether its trigger, or one of its rules, may hold in some state: False is proved."""
    entered = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
    ways: list[Formula | None] = [rule.when for rule in loop.rules if rule.when is not None]
    return any(
        not states.satisfiable(f.tree for f in (entered, way) if isinstance(f, Formula) and f.text != "always")[0].unsat
        for way in ways or [None]
    )


def _promises(states: States) -> Iterator[Finding]:
    stated = {}
    for name, promise in states.subject.design.promises.items():
        if promise.kind in ("always", "never") and promise.condition is not None:
            tree = promise.condition.tree
            stated[name] = (promise, Logic("not", (tree,)) if promise.kind == "never" else tree)
    broken: set[str] = set()
    for name, (promise, tree) in stated.items():
        never = f"the promise {name} can never hold: {promise.text}"
        findings = list(_unsatisfiable(states, [tree], never, [promise.place], (name,)))
        broken |= {name} if findings else set()
        yield from findings
    pairs = [
        (left, right)
        for left, right in itertools.combinations(sorted(stated.keys() - broken), 2)
        if states.names(stated[left][1]) & states.names(stated[right][1])
    ]
    for number, (left, right) in enumerate(pairs):
        (first, a), (second, b) = stated[left], stated[right]
        places = [first.place, second.place]
        if states.time_is_over():
            needs = f"whether any of {len(pairs) - number} pairs of promises excludes itself: the time limit"
            yield QUESTION.undecided(needs, places, (left, right), bound="the time limit")
            return
        yield from _unsatisfiable(states, [a, b], f"no run keeps both {left} and {right}", places, (left, right))


def _unsatisfiable(
    states: States, trees: list[Tree], message: str, places: list[Place], of: tuple[str, ...]
) -> Iterator[Finding]:  # fmt: skip
    """Yields that no state satisfies the conditions, or that this is not decided; nothing where a state does."""
    answer, script = states.satisfiable(trees)
    if answer.outcome is Outcome.SAT:
        return
    labels = ["no state satisfies this"] if len(places) == 1 else ["this promise", "excludes this one"]
    shown = [place.labelled(label) for place, label in zip(places, labels, strict=True)]
    if answer.unsat:
        yield QUESTION.vacuous(message, shown, of, arithmetic({}, certificate=script))
    else:
        needs = f"whether {message} is open: {answer.reason}"
        yield QUESTION.undecided(needs, places, of, bound=answer.reason)


def _forgotten(component: Component) -> Iterator[Finding]:
    """Yields that the next value of a state is one number, whatever it was: most often a rate that is meant."""
    formula, start = state_formula(component), component.initial
    if component.step is None or start is None or formula is None or not isinstance(formula.tree, Number):
        return
    to = formula.tree.value
    if start.low == start.high == to:
        return
    name = f"{component.name}.{state_variable(component)}"
    message = (
        f"{name} is {formula.text.strip()} from its first step on, whatever it was: with `step` its next value is "
        "stated, and without it the rate"
    )
    places = (component.step.place.labelled("so it is the next value"), start.place.labelled("forgotten at once"))
    yield QUESTION.vacuous(message, places, (component.name,), arithmetic({}))


def _limit(design: Design, limit: Limit) -> Iterator[Finding]:
    low, high = limit.at_least, most_allowed(design, limit)
    if isinstance(low, Quantity) and high is not None and low.low > high.high:
        places = (low.place.labelled("the floor"), high.place.labelled("lies above the cap"))
        numbers = {"floor": (low.low, str(low.dimension)), "cap": (high.high, str(high.dimension))}
        least, most = render_quantity(low.low, low.dimension), render_quantity(high.high, high.dimension)
        message = f"the limit {limit.name} leaves no value: at least {least}, at most {most}"
        yield QUESTION.vacuous(message, places, (limit.name,), arithmetic(numbers))


class States:
    """Decides which conditions hold together: constants that no loop writes are in their ranges, all else is free."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._end = now() + subject.time_limit
        self._known: dict[tuple[Tree, ...], tuple[SolverAnswer, str]] = {}

    def time_is_over(self) -> bool:
        """Returns whether the time for all questions about states is spent, and notes the cut."""
        return is_over(self._end)

    def satisfiable(self, trees: Iterable[Tree]) -> tuple[SolverAnswer, str]:
        """Returns the solver's answer about all conditions at once, and what it was asked."""
        conditions = tuple(self._resolved(tree) for tree in trees)
        if conditions not in self._known:
            self._known[conditions] = self._solved(conditions)
        return self._known[conditions]

    def names(self, tree: Tree) -> frozenset[str]:
        """Returns the paths that a condition reads."""
        return frozenset(names_of(self._resolved(tree)))

    def _resolved(self, tree: Tree) -> Tree:
        return rename(tree, lambda path: resolve(path, self.subject.design))

    def _solved(self, conditions: tuple[Tree, ...]) -> tuple[SolverAnswer, str]:
        design = self.subject.design
        used = {path: _never.constant(path, design) for tree in conditions for path in names_of(tree)}
        values = {path: interval(stated) for path, stated in used.items() if stated is not None}
        past = {name: span for tree in conditions for name, span in past_ranges(tree, values).items()}
        query = SatQuery(tuple(plain(tree, steady=False) for tree in conditions), {**values, **past})
        if _are_independent(query.conditions, query.values):
            return SolverAnswer(Outcome.SAT), ""
        left = left_until(self._end)
        if left <= 0:
            return SolverAnswer(Outcome.UNKNOWN, "the time limit"), ""
        try:
            script = query.script()
        except NotExactError as error:
            return SolverAnswer(Outcome.UNKNOWN, str(error)), ""
        return unsat(script, timeout_ms=min(TIMEOUT_MS, math.ceil(left * 1000))), script


def _are_independent(conditions: Iterable[Tree], values: Mapping[str, Interval]) -> bool:
    """Returns whether each condition is about one free name of its own: then some state fulfils all, without a solver.

    A condition is such a name, its negation, or its comparison with a number.
    """
    names = [_free_name(term, values) for tree in conditions for term in _conjuncts(tree)]
    return None not in names and len(set(names)) == len(names)


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Logic) and tree.op == "and":
        for term in tree.terms:
            yield from _conjuncts(term)
    else:
        yield tree


def _free_name(term: Tree, values: Mapping[str, Interval]) -> str | None:
    match term:
        case Name(path=path) | Logic(op="not", terms=(Name(path=path),)):
            pass
        case Compare(left=Name(path=path), right=Number()) | Compare(left=Number(), right=Name(path=path)):
            pass
        case _:
            return None
    return path if path not in values else None
