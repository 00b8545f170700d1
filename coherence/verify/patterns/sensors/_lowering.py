"""Why a loop never lowers what it writes, so that what holds its reductions back holds nothing back."""

from __future__ import annotations

from coherence.base.solver import SolverAnswer
from coherence.language.design import Loop, Relay
from coherence.language.expressions.tree import Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.satisfiability import sat_query, solve_query
from coherence.verify.facts.writers import Writer


def never_lowers(facts: DesignFacts, loop: Loop) -> str:
    """Returns why the loop never lowers what it writes; empty where it may."""
    writer = next((w for writers in facts.written.values() for w in writers if w.loop is loop), None)
    if writer is None:
        return ""
    if writer.kind in ("unset", "ignore"):
        return "it writes nothing"
    if writer.values.exact:
        return "its bounds leave one value"
    if writer.kind == "step" and _steps_up(writer):
        return "it steps up only"
    conditions = _conditions(loop)
    never = conditions and all(_never(facts, condition) for condition in conditions)
    return "its condition never holds" if never else ""


def _steps_up(writer: Writer) -> bool:
    actuation = writer.loop.actuation
    assert actuation is not None
    rules = writer.loop.rules
    steps = [rule.by for rule in rules] if rules else [actuation.by]
    return all(isinstance(step, Quantity) and step.low >= 0 for step in steps)


def _conditions(loop: Loop) -> list[Tree]:
    """Returns the conditions under which the loop acts; none where it always may."""
    trigger = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
    stated = [rule.when for rule in loop.rules] or [trigger]
    trees = [formula.tree for formula in stated if isinstance(formula, Formula) and formula.text.strip() != "always"]
    return trees if len(trees) == len(stated) else []


def _never(facts: DesignFacts, condition: Tree) -> bool:
    answer = solve_query(sat_query(facts, [condition], steady=False))
    return isinstance(answer, SolverAnswer) and answer.unsat
