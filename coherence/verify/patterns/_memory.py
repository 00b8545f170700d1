"""What the requests of a workload hold: at most, and on average."""

from __future__ import annotations

from fractions import Fraction

from coherence.design import Limit, Spread2, Workload
from coherence.expressions import names as used
from coherence.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.model import Interval, interval
from coherence.places import Place
from coherence.shape import Quantity
from coherence.values import value
from coherence.verify.known import Known
from coherence.verify.limits import place_of
from coherence.verify.ranges import enclosure


@value
class Memory:
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


def mean_tokens(workload: Workload) -> Interval:
    """The range of the mean."""
    tokens = workload.tokens
    if isinstance(tokens, Quantity):
        return interval(tokens)
    return interval(tokens.mean) if tokens is not None and tokens.mean is not None else Interval(None, None)


def sizes(facts: Known, memory: Memory) -> tuple[Fraction, Fraction | None]:
    """(least, most) that one request may hold; the most is None where no longest request is stated."""
    tokens = memory.workload.tokens
    if isinstance(tokens, Spread2):
        range_ = Interval(Fraction(0), tokens.max.high if tokens.max is not None else None)
    else:
        range_ = mean_tokens(memory.workload)
    found = enclosure(
        memory.each, {**facts.values, **{path: range_ for path in used(memory.each) if path.endswith(".tokens")}}
    )
    return found.low or Fraction(0), found.high


def expected(tree: Tree, mean: Interval) -> Interval | None:
    """The mean of the tree where the tokens have this mean: linear, and within one of a rounded value."""
    match tree:
        case Number(value=value):
            return Interval(value, value)
        case Name(path=path):
            return mean if path.endswith(".tokens") else None
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _both(op, expected(left, mean), expected(right, mean))
        case Arithmetic(op="*" | "/" as op, left=left, right=Number() as right):
            return _both(op, expected(left, mean), enclosure(right, {}))
        case Arithmetic(op="*", left=Number() as left, right=right):
            return _both("*", enclosure(left, {}), expected(right, mean))
        case Call(function="ceil" | "floor" as function, arguments=(inner,)):
            found = expected(inner, mean)
            if found is None or found.low is None or found.high is None:
                return None
            return Interval(found.low, found.high + 1) if function == "ceil" else Interval(found.low - 1, found.high)
    return None


def _both(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    return enclosure(Arithmetic(op, Name("left"), Name("right")), {"left": left, "right": right})


def offered_load(workload: Workload) -> Fraction | None:
    """Rate times mean residence at least; the service time alone is a lower bound of the residence."""
    stay = workload.residence if workload.residence is not None else workload.service
    mean = stay.mean if isinstance(stay, Spread2) else stay
    return workload.rate.low * mean.low if workload.rate is not None and mean is not None else None
