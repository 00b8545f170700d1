"""Budgets of failures: what one is, and where it counts for something else than the thing that fails."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Component, Limit
from coherence.language.expressions.tree import Compare, Name, Number
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Promise
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import place_of
from coherence.verify.timers.recurrences import FIRINGS, comes_back, is_over


@dataclass(frozen=True)
class FailureBudget:
    """A limit whose end loses the run: `lives` events of `thing` in `window` seconds (None: for ever).

    Of a range, `lives` are the fewest that it allows and `window` the longest; `most_lives` and `shortest` the others.
    """

    limit: Limit
    thing: str
    signal: str
    lives: int
    window: Fraction | None
    bounded: str = ""  # what bounds the time, where it is not the window of the limit
    assumed: tuple[str, ...] = ()  # of what bounds it
    keeps: bool = False  # it goes on where it was ended: all its runs together last so long
    most_lives: int = 0
    shortest: Fraction | None = None

    @property
    def fires(self) -> bool:
        """Returns whether it counts how often a timer fires."""
        return self.signal == FIRINGS

    def most_in(self, window: Fraction, low: Fraction) -> int:
        """Returns the most events in a half-open window that are `low` seconds apart; without a bound, one too many."""
        return math.ceil(window / low) if low > 0 else self.lives + 1

    @property
    def always(self) -> bool:
        """Returns whether the limit holds at every time and for all that it counts."""
        return self.limit.during is None and not self.limit.actions

    @property
    def what(self) -> str:
        return f"{self.signal} of {self.thing}"

    @property
    def end(self) -> str:
        """Returns what follows when the budget is spent."""
        full = self.limit.when_full.text if self.limit.when_full is not None else "fail and lose"
        return "all is lost" if full == "fail and lose" else f"what comes then is not done ({full})"

    @property
    def place(self) -> Place:
        return place_of(self.limit.at_most, self.limit).labelled(f"{self.limit.name}: so many, then {self.end}")


def fewest_in(budget: FailureBudget, high: Fraction | None) -> float:
    """Returns the fewest events, at most `high` seconds apart, in any window of a budget; of one run in none."""
    if high is None or budget.shortest is None:
        return 0
    return budget.shortest // high if high > 0 else math.inf


def by_chance(question: Question, facts: DesignFacts, budget: FailureBudget) -> Iterator[Finding]:
    """Yields that failures which come by chance, so far apart in the mean, spend a budget without a window."""
    component = facts.design.components.get(budget.thing)
    apart = component.constants.get("mtbf") if component is not None else None
    if not isinstance(apart, Quantity) or budget.window is not None or budget.signal.startswith("evict"):
        return
    after = apart.high * (budget.lives + 1)
    message = (
        f"{budget.thing} fails every {apart} in the mean: {budget.limit.name} ({budget.lives} {budget.signal}, no "
        f"window) is spent after {render_seconds(after)} in the mean"
    )
    steps = (
        Step(apart.high, f"{budget.thing} fails for the first time, in the mean"),
        Step(after, f"it fails for the {budget.lives + 1}th time: {budget.limit.name} is spent, {budget.end}"),
    )
    without = budget.limit.place.labelled(f"{budget.limit.name} has no window")
    places = (budget.place, apart.place.labelled("so far apart in the mean"), without)
    evidence = arithmetic({"lives": (budget.lives, ""), "apart in the mean": (apart.high, "s")}, witness=steps)
    yield question.conflict(message, places, (budget.limit.name, budget.thing), evidence, certain=False)


def one_run(component: Component | None) -> Fraction | None:
    """Returns the longest run of a thing that does not come back; None where what it takes is not all of its life."""
    if component is None or comes_back(component) or not is_over(component):
        return None
    return sum((span.high for span in (component.takes or {}).values()), Fraction(0))


def scoped(facts: DesignFacts, budget: FailureBudget) -> str | None:
    """Returns the declared thing for which the limit counts, where that is not the thing that it counts."""
    stated = budget.limit.per or budget.limit.scope
    name = stated.text if stated is not None else ""
    return name if name in facts.design.components and name != budget.thing else None


def scope(question: Question, subject: Subject, facts: DesignFacts, budget: FailureBudget) -> Iterator[Finding]:
    """The counted thing has as many budgets as the limit has scopes."""
    name = scoped(facts, budget)
    if name is None:
        return
    component, many = facts.design.components[name], copies(facts, name)
    again = comes_back(component)
    total = None if again or many is None or many.high is None else math.floor(many.high) * budget.lives
    promise = next((p for p in facts.design.promises.values() if _bounds(p, budget) is not None), None)
    allowed = _bounds(promise, budget) if promise is not None else None
    stated = budget.limit.per or budget.limit.scope
    assert stated is not None
    places = (
        budget.place, stated.place.labelled(f"counted for each {name}, not for {budget.thing}"),
        component.place.labelled(f"{name} comes back and begins anew" if again else f"each {name} has its own count"),
        *((promise.place.labelled("promised for all together"),) if promise is not None else ()),
    )  # fmt: skip
    of = (budget.limit.name, name, budget.thing, *((promise.name,) if promise is not None else ()))
    if (allowed is not None and (total is None or total > allowed)) or (again and total is None):
        yield _escapes(question, subject, budget, (name, total, allowed), places, of)
    elif again is None:
        yield question.undecided(f"needs returns of {name}: one that comes back begins a new count", places, of)
    elif total is not None and allowed is not None:
        claim = f"(<= (* {budget.lives}.0 {total // max(1, budget.lives)}.0) {rational(allowed)})"
        evidence = arithmetic(
            {"together": (total, ""), "allowed": (allowed, "")}, certificate=Certificate(claim=claim).script()
        )
        yield question.proved(f"all {name} together allow {budget.thing} {total} {budget.signal}", places, of, evidence)


def _bounds(promise: Promise, budget: FailureBudget) -> Fraction | None:
    """Returns the most that a promise allows of what the budget counts."""
    tree = promise.condition.tree if promise.kind == "always" and promise.condition is not None else None
    if not isinstance(tree, Compare) or tree.op not in ("<=", "<") or not isinstance(tree.right, Number):
        return None
    counted = isinstance(tree.left, Name) and tree.left.path == f"{budget.thing}.{budget.signal}"
    return (tree.right.value if tree.op == "<=" else tree.right.value - 1) if counted else None


def _escapes(
    question: Question, subject: Subject, budget: FailureBudget,
    size: tuple[str, int | None, Fraction | None], places: tuple[Place, ...],
    of: tuple[str, ...],
) -> Finding:  # fmt: skip
    name, total, allowed = size
    counted = f"{budget.signal} of {budget.thing}"
    bound = "nothing bounds" if total is None else f"up to {total} are allowed:"
    promised = f", {allowed} are promised" if allowed is not None else ""
    message = f"{budget.limit.name} counts {counted} for each {name}: {bound} them together{promised}"
    if total is not None:
        message = f"{budget.limit.name} counts {counted} for each {name}: up to {total} together{promised}"
    again = f"{name} comes back with a new count" if total is None else f"the next {name} has its own count"
    witness = (Step(None, f"{budget.lives} {budget.signal} in one {name}"), Step(None, f"{again}: {budget.lives} more"))
    numbers: dict[str, tuple[Fraction | float | int, str]] = {"each": (budget.lives, "")}
    numbers |= {"together": (total, "")} if total is not None else {}
    numbers |= {"promised": (allowed, "")} if allowed is not None else {}
    stated = budget.limit.per or budget.limit.scope
    old = repairs.text_at(subject.sources, stated.place) if stated is not None else None
    edit = Edit(stated.place, old, budget.thing) if stated is not None and old else None
    repair = repairs.proposal(edit)
    return question.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=False,
        assumptions=(f"{budget.signal} of {budget.thing} go on",), repairs=[repair] if repair else [],
    )  # fmt: skip
