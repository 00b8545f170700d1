"""Turns promises on the latency of a queue with a stated pool into demands on its number of servers.

A component part whose output is of the family `mmc_sojourn` says which arrivals, servers and rate it is made of.  The
demand is relaxed: the fewest arrivals and the fastest server that the design allows.  What then has no state has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language import catalogue
from coherence.language.document import Scalar, Table
from coherence.language.expressions.tree import MIRRORED, Call, Compare, Logic, Name, Number, Tree, rename
from coherence.language.schema_kinds import Formula
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.sojourn import LatencyBound, carried, fewest

FAMILY = "mmc_sojourn"
MOST_STEPS, MANY = 40, 1_000  # numbers of servers that are told apart over a range of arrivals; beyond, the first alone


@dataclass(frozen=True)
class Latency:
    """The latency of one queue: the paths of what it is made of."""

    queue: str
    arrivals: str
    servers: str
    rate: str


@dataclass(frozen=True)
class LatencyDemand:
    """A comparison of a latency with a number, and what the latency is made of."""

    latency: Latency
    demand: LatencyBound


def demands_in(facts: DesignFacts, tree: Tree) -> Iterator[LatencyDemand]:
    """Yields every demand on a latency that must hold where the tree does."""
    if isinstance(tree, Logic) and tree.op == "and":
        for term in tree.terms:
            yield from demands_in(facts, term)
    elif (demand := _latency_demand(facts, tree)) is not None:
        yield demand


def demanded(facts: DesignFacts, tree: Tree) -> Tree:
    """Returns the tree with every upper bound on a latency as the lower bound on servers that it needs at the least."""
    if isinstance(tree, Logic) and tree.op in ("and", "or"):
        return Logic(tree.op, tuple(demanded(facts, term) for term in tree.terms))
    demand = _latency_demand(facts, tree)
    bound = least(facts, demand) if demand is not None else None
    return tree if bound is None else bound


def least(facts: DesignFacts, demand: LatencyDemand) -> Tree | None:
    """Returns what every state that keeps the demand fulfils; None where numbers are missing."""
    arrivals, rate = _first_tries(facts, demand.latency.arrivals), facts.range(Name(demand.latency.rate))
    if arrivals.low is None or rate.high is None or arrivals.low <= 0 or rate.high <= 0:
        return None
    count = fewest(demand.demand, arrivals.low, rate.high, surely=False)
    if count is not None:
        return _by_arrivals(demand, arrivals, rate.high, count)
    floor = Fraction(demand.demand.least_rate * (1 - 1e-9)).limit_denominator(10**6)
    return Compare(">=", Name(demand.latency.rate), Number(floor)) if floor > rate.high else None


def _by_arrivals(latency_demand: LatencyDemand, arrivals: Interval, rate: Fraction, count: int) -> Tree:
    """Returns the condition: at least so many servers, and more where more arrives."""
    servers, demand = Name(latency_demand.latency.servers), latency_demand.demand
    terms: list[Tree] = [Compare(">=", servers, Number(Fraction(count)))]
    bounded = arrivals.high is not None and count <= MANY
    most = fewest(demand, arrivals.high, rate, surely=False) if bounded and arrivals.high is not None else count
    for fewer in range(count, min(most or count, count + MOST_STEPS)):
        few = Compare("<=", Name(latency_demand.latency.arrivals), Number(carried(demand, fewer, rate)))
        terms.append(Logic("or", (few, Compare(">=", servers, Number(Fraction(fewer + 1))))))
    return terms[0] if len(terms) == 1 else Logic("and", tuple(terms))


def enough(facts: DesignFacts, demand: LatencyDemand) -> int | None:
    """Returns how many servers keep the demand whatever the ranges allow; None where none do or numbers are missing."""
    arrivals, rate = facts.range(Name(demand.latency.arrivals)), facts.range(Name(demand.latency.rate))
    if arrivals.high is None or rate.low is None or arrivals.high <= 0 or rate.low <= 0:
        return None
    return fewest(demand.demand, arrivals.high, rate.low, surely=True)


def _first_tries(facts: DesignFacts, path: str) -> Interval:
    """Returns the range of what comes at the least: the rates of workloads, without what is sent again."""

    def plain(name: str) -> str:
        thing, _, signal = name.partition(".")
        sent = signal == "attempts" and thing in facts.design.workload
        return f"{thing}.rate" if sent else name

    return facts.range(rename(facts.tree(Name(path)), plain))


def _latency_demand(facts: DesignFacts, tree: Tree) -> LatencyDemand | None:
    if not isinstance(tree, Compare):
        return None
    left, op, right = tree.left, tree.op, tree.right
    if isinstance(left, Number):
        left, op, right = right, MIRRORED.get(op, op), left
    if op not in ("<", "<=") or not isinstance(right, Number):
        return None
    match left:
        case Call(function="mean", arguments=(Name(path=path),)):
            demand = LatencyBound(right.value)
        case Call(function="quantile", arguments=(Name(path=path), Number(value=share))):
            demand = LatencyBound(right.value, share)
        case Call(function="tail", arguments=(Name(path=path), Number(value=time))):
            demand = LatencyBound(time, 1 - right.value)
        case _:
            return None
    latency = latencies(facts).get(path)
    meaningful = demand.limit > 0 and (demand.share is None or 0 < demand.share < 1)
    return LatencyDemand(latency, demand) if latency is not None and meaningful else None


def latencies(facts: DesignFacts) -> dict[str, Latency]:
    """Returns path -> what it is made of, for every queue of the design."""
    return facts.queries.get(latencies, lambda: dict(_latencies(facts)))


def _latencies(facts: DesignFacts) -> Iterator[tuple[str, Latency]]:
    for component in facts.design.components.values():
        if component.part is None:
            continue
        for name, output in catalogue.mathematics(component.part.text)["outputs"].entries.items():
            if isinstance(output, Table) and _word(output, "family") == FAMILY:
                bound = {
                    key: given.tree.path for key, given in component.constants.items()
                    if isinstance(given, Formula) and isinstance(given.tree, Name) and "." not in given.tree.path
                }  # fmt: skip
                paths = [
                    _path(component.name, bound, _word(output, key)) for key in ("arrivals", "servers", "service_rate")
                ]
                yield f"{component.name}.{name}", Latency(component.name, *paths)


def _word(table: Table, key: str) -> str:
    node = table.get(key)
    return node.text if isinstance(node, Scalar) else ""


def _path(own: str, bound: dict[str, str], name: str) -> str:
    """Returns `served_by.ready` of the thing that serves; `arrivals` of the queue itself."""
    head, dot, rest = name.partition(".")
    return f"{bound.get(head, head)}.{rest}" if dot else f"{own}.{name}"
