"""How old a signal is before a sensor chain reads it: its own delays and means over time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Call, Name, Tree, children
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import PAST

MEANS = ("mean_over", "sampled")  # of what lies between now and then; on average half as old


@dataclass(frozen=True)
class Age:
    """Seconds: the age of the newest value that a signal is made of, its mean age, and that of the oldest.

    A value that is delayed is old, and yet seen for no longer than it lasted: `seen` is how much longer.
    """

    newest: Fraction = Fraction(0)
    mean: Fraction = Fraction(0)
    oldest: Fraction = Fraction(0)

    @property
    def seen(self) -> Fraction:
        return self.oldest - self.newest

    def later(self, other: Age) -> Age:
        """Returns the age of what reads this one so much later."""
        return Age(self.newest + other.newest, self.mean + other.mean, self.oldest + other.oldest)


def signal_age(facts: DesignFacts, tree: Tree) -> Age | None:
    """Returns the age of the values that a tree is made of; None where the design does not bound it."""
    return _age(facts, facts.tree(tree))


def _age(facts: DesignFacts, tree: Tree) -> Age | None:
    if isinstance(tree, Name):
        return None if tree.path in facts.outputs else Age()  # an output that reads its own past stays a name
    if isinstance(tree, Call) and tree.function in PAST:
        own, inner = _of_window(facts, tree), _age(facts, tree.arguments[0])
        return None if own is None or inner is None else inner.later(own)
    ages = [_age(facts, part) for part in children(tree)]
    known = [age for age in ages if age is not None]
    if len(known) < len(ages):
        return None
    if not known:
        return Age()
    return Age(min(a.newest for a in known), max(a.mean for a in known), max(a.oldest for a in known))


def _of_window(facts: DesignFacts, call: Call) -> Age | None:
    """Returns how far one function of the past looks back; `previous` looks back to a sample at no stated time."""
    if call.function == "previous" or len(call.arguments) < 2:
        return None
    span = facts.range(call.arguments[1])
    if span.high is None or span.low is None:
        return None
    if call.function == "delayed":
        return Age(span.low, span.high, span.high)
    return Age(Fraction(0), span.high / 2 if call.function in MEANS else span.high, span.high)
