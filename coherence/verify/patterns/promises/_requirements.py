"""Collects the demands of a design on its states: promises, limits, claims, rests of proportional loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.base.places import Place
from coherence.findings.question_input import Subject
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Call, Compare, Logic, Name, Number, Tree
from coherence.language.schema_kinds import Formula
from coherence.model.laws import inside, rounded_back
from coherence.verify.actions.loop_directions import of_setpoint, seen
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap, floor, place_of, supply_of
from coherence.verify.facts.ranges import FUNCTIONS, PAST
from coherence.verify.facts.satisfiability import opposite
from coherence.verify.facts.writers import Writer, tree_of
from coherence.verify.queues.latencies import demanded

PROMISED = ("always", "never", "eventually_always")
MEANT_TO_FILL = ("wait", "reject", "evict and redo")


@dataclass(frozen=True)
class Requirement:
    """One demand on every state that lasts.  `kind`: promise, limit, claim or target; `formula` where repairs may act.

    `stated` is the condition as written, `tree` the one over constants and commands.
    """

    name: str
    kind: str
    tree: Tree
    stated: Tree
    place: Place
    text: str
    formula: Formula | None = None
    policy: str = ""


def requirements(subject: Subject, facts: DesignFacts) -> Iterator[Requirement]:
    """Yields every demand that the solver can carry; those on distributions and counts of events are left out."""
    for made in (*_promises(subject, facts), *_limits(subject, facts), *_claims(subject, facts), *_rests(facts)):
        if all(_carried(node) for node in walk(made.tree)):
            yield made


def _carried(node: Tree) -> bool:
    return not isinstance(node, Call) or node.function in FUNCTIONS or node.function in PAST


def _promises(subject: Subject, facts: DesignFacts) -> Iterator[Requirement]:
    for promise in subject.design.promises.values():
        if promise.kind not in PROMISED or promise.condition is None:
            continue
        stated = promise.condition.tree
        stated = opposite(stated) if promise.kind == "never" else stated
        tree = full(facts, stated)
        yield Requirement(
            promise.name, "promise", tree, stated, promise.place, promise.text,
            promise.condition if promise.kind != "never" else None,
        )  # fmt: skip


def full(facts: DesignFacts, tree: Tree) -> Tree:
    """Returns the tree over constants and commands.

    An upper bound on a latency is the lower bound on servers that it needs at the least.
    """
    return facts.tree(demanded(facts, tree))


def _limits(subject: Subject, facts: DesignFacts) -> Iterator[Requirement]:
    for limit in subject.design.limits.values():
        if limit.counts is None or limit.per or limit.window or limit.during or limit.actions or limit.scope:
            continue
        counts = full(facts, limit.counts.tree)
        ends = ((limit.at_most, cap(facts, limit), "<="), (limit.at_least, floor(facts, limit), ">="))
        for stated, bound, op in ends:
            if bound is not None:
                tree = Compare(op, counts, bound)
                text = f"{limit.counts} {op} {stated}"
                yield Requirement(limit.name, "limit", tree, tree, place_of(stated, limit), text, policy=limit.name)


def _claims(subject: Subject, facts: DesignFacts) -> Iterator[Requirement]:
    for name, formula in subject.design.claims.items():
        supply = supply_of(name)
        if supply in facts.values:
            tree = Compare("<=", full(facts, formula.tree), Name(supply))
            there = f"count of {name}" if "." not in name else name
            yield Requirement(name, "claim", tree, tree, formula.place, f"{formula} <= {there}")


def _rests(facts: DesignFacts) -> Iterator[Requirement]:
    """Yields a proportional loop that stands still: within its tolerance, at a whole count that it keeps, or at a
    bound.
    """
    for signal, writers in facts.written.items():
        if len(writers) != 1 or writers[0].kind != "scale" or writers[0].condition is not None:
            continue
        requirement = _rest(facts, signal, writers[0])
        if requirement is not None:
            yield requirement


def _rest(facts: DesignFacts, signal: str, writer: Writer) -> Requirement | None:
    target, span = writer.loop.target, writer.values
    setpoint = tree_of(target.setpoint) if target and target.setpoint is not None else None
    if target is None or target.signal is None or setpoint is None or span.exact:
        return None
    if not set(used(full(facts, target.signal.tree))) & {signal}:
        return None  # what it reads does not depend on what it writes: it rests anywhere
    reading, level, here = full(facts, seen(facts, writer.loop, target.signal.tree)), facts.tree(setpoint), Name(signal)
    tolerance = target.tolerance.high if target.tolerance else Fraction(0)
    within: list[Tree] = [of_setpoint(facts, partial(inside, tolerance=tolerance), reading, setpoint)]
    if writer.integer:
        within.append(rounded_back(here, reading, level))
    if span.low is not None:
        under = of_setpoint(facts, partial(Compare, "<="), reading, setpoint)
        within.append(Logic("and", (Compare("==", here, Number(span.low)), under)))
    if span.high is not None:
        over = of_setpoint(facts, partial(Compare, ">="), reading, setpoint)
        within.append(Logic("and", (Compare("==", here, Number(span.high)), over)))
    tree = Logic("or", tuple(within))
    text = f"{target.signal} at {target.setpoint}"
    assert target.setpoint is not None
    return Requirement(writer.name, "target", tree, tree, target.setpoint.place, text, policy=writer.name)
