"""Computes what the requests of a workload hold: at most, and on average."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Limit
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.model.model import Interval, interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import place_of
from coherence.verify.facts.ranges import enclosure, with_ranges


@dataclass(frozen=True)
class RequestMemory:
    """What one request holds (`each`, a tree over the workload), how much there is, and how many may run."""

    limit: Limit
    each: Tree
    blocks: Fraction
    workload: Workload
    running: tuple[Limit, Fraction] | None

    @property
    def of(self) -> tuple[str, ...]:
        return (self.limit.name, *((self.running[0].name,) if self.running else ()))

    @property
    def places(self) -> tuple[Place, ...]:
        memory = place_of(self.limit.at_most, self.limit).labelled("the memory")
        admits = (
            (place_of(self.running[0].at_most, self.running[0]).labelled("so many are admitted"),)
            if self.running
            else ()
        )
        return (memory, *admits, self.workload.place.labelled("what arrives"))


LENGTHS = ("tokens", "prompt", "answer")


def missing_length(memory: RequestMemory) -> str:
    """Returns the length that the formula needs and the workload does not say; empty where none is missing."""
    stated = {**_lengths(memory.workload)}
    return next((word for path in used(memory.each) if (word := _length(path)) and word not in stated), "")


def _length(path: str) -> str:
    word = path.partition(".")[2]
    return word if word in LENGTHS else ""


def _lengths(workload: Workload) -> dict[str, tuple[Interval, Interval]]:
    """Length -> (range of its mean, range of its values); all tokens are those of prompt and answer together."""
    stated = {"tokens": workload.tokens, "prompt": workload.prompt, "answer": workload.answer}
    lengths = {word: (_mean(given), _values(given)) for word, given in stated.items() if given is not None}
    if "tokens" not in lengths and "prompt" in lengths and "answer" in lengths:
        (first, whole), (second, rest) = lengths["prompt"], lengths["answer"]
        both = Arithmetic("+", Name("a"), Name("b"))
        lengths["tokens"] = (enclosure(both, {"a": first, "b": second}), enclosure(both, {"a": whole, "b": rest}))
    return lengths


def _mean(given: Spread2 | Quantity) -> Interval:
    if isinstance(given, Quantity):
        return interval(given)
    return interval(given.mean) if given.mean is not None else Interval(None, None)


def _values(given: Spread2 | Quantity) -> Interval:
    if isinstance(given, Quantity):
        return interval(given)
    return Interval(Fraction(0), given.max.high if given.max is not None else None)


def longest_place(workload: Workload) -> Place | None:
    """Returns where the longest request is stated."""
    stated = (workload.tokens, workload.prompt, workload.answer)
    tops = (given.max if isinstance(given, Spread2) else given for given in stated)
    return next((top.place for top in tops if top is not None), None)


def sizes(facts: DesignFacts, memory: RequestMemory) -> tuple[Fraction, Fraction | None]:
    """(least, most) that one request may hold; the most is None where no longest request is stated."""
    lengths = _lengths(memory.workload)
    ranges = {path: lengths[word][1] for path in used(memory.each) if (word := _length(path)) in lengths}
    each = enclosure(memory.each, with_ranges(facts.values, ranges))
    return each.low or Fraction(0), each.high


def expected(facts: DesignFacts, memory: RequestMemory) -> Interval | None:
    """Returns the mean of what one request holds; None where it is not linear in the lengths."""
    return _expected(facts, memory.each, _lengths(memory.workload))


def _expected(facts: DesignFacts, tree: Tree, lengths: dict[str, tuple[Interval, Interval]]) -> Interval | None:
    """Linear in the lengths, and within one of a rounded value."""
    match tree:
        case Number(value=value):
            return Interval(value, value)
        case Name(path=path):
            word = _length(path)
            return lengths[word][0] if word in lengths else facts.values.get(path)
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _both(op, _expected(facts, left, lengths), _expected(facts, right, lengths))
        case Arithmetic(op="*" | "/" as op, left=left, right=right) if not _varies(right):
            return _both(op, _expected(facts, left, lengths), _expected(facts, right, lengths))
        case Arithmetic(op="*", left=left, right=right) if not _varies(left):
            return _both("*", _expected(facts, left, lengths), _expected(facts, right, lengths))
        case Call(function="ceil" | "floor" as function, arguments=(inner,)):
            inner_mean = _expected(facts, inner, lengths)
            if inner_mean is None or inner_mean.low is None or inner_mean.high is None:
                return None
            return (
                Interval(inner_mean.low, inner_mean.high + 1)
                if function == "ceil"
                else Interval(inner_mean.low - 1, inner_mean.high)
            )
    return None


def _varies(tree: Tree) -> bool:
    """Returns whether it differs from request to request."""
    return any(_length(path) for path in used(tree))


def _both(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    return enclosure(Arithmetic(op, Name("left"), Name("right")), {"left": left, "right": right})


def offered_load(workload: Workload) -> Fraction | None:
    """Rate times mean residence at least; the service time alone is a lower bound of the residence."""
    stay = workload.residence if workload.residence is not None else workload.service
    mean = stay.mean if isinstance(stay, Spread2) else stay
    return workload.rate.low * mean.low if workload.rate is not None and mean is not None else None
