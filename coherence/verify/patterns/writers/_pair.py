"""Holds two writers of one signal, and builds the findings about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.base.units import ONE, Dimension
from coherence.findings import repairs
from coherence.findings.finding import Edit, Evidence, Finding, Repair
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Logic, Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Promise
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import truth
from coherence.verify.facts.writers import Writer

Numbers = Mapping[str, tuple[Fraction | float | int, str]]


def pairs_not_looked_at(question: Question, signal: str, writers: Sequence[Writer], most: int) -> Iterator[Finding]:
    """Yields that some pairs of loops were not looked at, where there are more than `most` of them."""
    if math.comb(len(writers), 2) > most:
        loops = {writer.name: writer.place for writer in writers}
        needs = f"whether two of the {len(loops)} loops on {signal} act against each other: too many pairs"
        yield question.undecided(needs, tuple(loops.values())[-2:], tuple(loops), bound=f"{most} pairs")


@dataclass(frozen=True)
class WriterPair:
    """The question asked, the design, and the two writers in declared order."""

    question: Question
    subject: Subject
    facts: DesignFacts
    signal: str
    first: Writer
    second: Writer

    @property
    def names(self) -> tuple[str, str]:
        return self.first.name, self.second.name

    def rival(self, writer: Writer) -> Writer:
        return self.second if writer is self.first else self.first

    def of_kind(self, kind: str) -> Writer:
        return self.first if self.first.kind == kind else self.second

    @property
    def dimension(self) -> Dimension:
        """Returns the dimension of the field, as the values that are written to it say."""
        stated = (quantity for writer in (self.first, self.second) for quantity in quantities(writer))
        return next((quantity.dimension for quantity in stated if quantity.dimension != ONE), ONE)

    @property
    def unit(self) -> str:
        return "" if self.dimension == ONE else str(self.dimension)

    def shown(self, value: Fraction) -> str:
        return render_quantity(value, self.dimension)

    def values(self, writer: Writer) -> Interval:
        """Returns what it writes; a formula is evaluated over the constants."""
        if writer.to is None:
            return writer.values
        interval = self.facts.range(writer.to)
        low, high = writer.values.low, writer.values.high
        return Interval(
            low if interval.low is None else writer.values.clip(interval.low),
            high if interval.high is None else writer.values.clip(interval.high),
        )

    def places(self, labels: Mapping[str, str] | None = None) -> tuple[Place, ...]:
        """Returns the values that decide, the first writer's first."""
        given = labels or {}
        return tuple(w.place.labelled(given.get(w.name) or self.label(w)) for w in (self.first, self.second))

    def label(self, writer: Writer) -> str:
        """Returns what the value of a writer does."""
        match writer.kind:
            case "unset":
                return f"{writer.name} leaves {self.signal} alone"
            case "set":
                again = {"once": "once", "on change": "whenever it changes"}.get(writer.mode, "again and again")
                return f"{writer.name} sets {self.signal} to this {again}"
            case "scale":
                return f"{writer.name} moves {self.signal} within these bounds as its signal asks"
        return f"{writer.name} steps {self.signal}"

    def conflict(
        self,
        message: str,
        evidence: Evidence,
        *,
        places: tuple[Place, ...] = (),
        certain: bool = False,
        assumptions: Iterable[str] = (),
        proposals: Iterable[Repair | None] = (),
    ) -> Finding:
        """Answers that the two never rest together."""
        proposed = [repair for repair in proposals if repair is not None]
        where = places or self.places()
        return self.question.conflict(
            message, where, self.names, evidence, certain=certain, assumptions=assumptions, repairs=proposed
        )

    def promises(self) -> list[Promise]:
        """Returns the promises `always` and `never` about this field alone."""
        return [promise for promise in self.subject.design.promises.values() if self._about(promise)]

    def _about(self, promise: Promise) -> bool:
        if promise.kind not in ("always", "never") or promise.condition is None:
            return False
        return set(used(self.facts.tree(promise.condition.tree))) == {self.signal}

    def claim(self, promise: Promise) -> Tree:
        """Returns what must hold at all times for a promise about this field."""
        assert promise.condition is not None
        tree = self.facts.tree(promise.condition.tree)
        return tree if promise.kind == "always" else Logic("not", (tree,))

    def holds(self, promise: Promise, value: Interval) -> bool | None:
        """Returns whether a promise about this field holds for every value (True), for none (False), or some (None)."""
        return truth(self.claim(promise), {self.signal: value})

    def proved(
        self, message: str, numbers: Numbers, certificate: str | None, promised: Iterable[Promise] = ()
    ) -> Finding:
        """In every state some value is left alone by both, and `promised` is kept."""
        of = (*self.names, *(promise.name for promise in promised))
        return self.question.proved(message, self.places(), of, arithmetic(numbers, certificate=certificate))

    def undecided(self, needs: str, *, places: tuple[Place, ...] = ()) -> Finding:
        return self.question.undecided(needs, places or self.places(), self.names)

    def note(self, message: str, numbers: Numbers) -> Finding:
        return self.question.note(message, self.places(), self.names, arithmetic(numbers))

    def rewrite(self, place: Place, new: str) -> Repair | None:
        """Another word where a value stands."""
        old = repairs.text_at(self.subject.sources, place)
        return Repair((Edit(place, old, new),), "") if old else None

    def unset(self, writer: Writer) -> Repair | None:
        """The writer leaves the field to the other one."""
        return self.rewrite(writer.place, "unset")


def quantities(writer: Writer) -> tuple[Quantity, ...]:
    """Returns the plain quantities that a writer states for its field."""
    actuation = writer.loop.actuation
    stated = (actuation.to, *actuation.bounds) if actuation else ()
    return tuple(value for value in stated if isinstance(value, Quantity))


def every(writer: Writer) -> str:
    """`every 15 s`, or `at its next write`."""
    return f"every {render_seconds(writer.period)}" if writer.period else "at its next write"
