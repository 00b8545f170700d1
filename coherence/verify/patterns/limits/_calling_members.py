"""Holds a limit on what is in the work of a thing against the members that each have a call there at once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.language.call_cases import weights
from coherence.language.design import Call, Limit
from coherence.language.entries.member_slots import RUNNING
from coherence.language.expressions.tree import Name
from coherence.verify.calls.retry_policies import retry_policy_of
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import cap, counted_in_flight, place_of


def answers(question: Question, facts: DesignFacts, limit: Limit) -> Iterator[Finding]:
    """Yields that members which nobody calls may have more calls at a thing than a limit lets be in its work.

    What it loses is a conflict; what it refuses is asked about, where the call is not made again.
    """
    thing = _worked_on(limit)
    tree = cap(facts, limit) if thing and (limit.loses or limit.rejects) and limit.intended is None else None
    most = facts.range(tree).high if tree is not None else None
    calls = [call for call in facts.design.calls if str(call.callee) == thing] if most is not None else []
    holding = {call: members for call in calls if (members := _members(facts, call))}
    count = sum(holding.values(), Fraction(0))
    if most is None or count <= most:
        return
    names = " and ".join(f"the {render_quantity(members)} of {call.caller}" for call, members in holding.items())
    message = f"{names} may each have a call at {thing} at once, {limit.name} is at most {render_quantity(most)}"
    places = (place_of(limit.at_most, limit).labelled("at most this"), *_places(facts, holding))
    of = (limit.name, *(call.name for call in holding))
    if limit.loses:
        witness = (
            Step(None, f"{render_quantity(count)} calls come to {thing} together"),
            Step(None, f"{render_quantity(count - most)} of them fail and are lost"),
        )
        evidence = arithmetic({"calls": (count, ""), "limit": (most, "")}, witness=witness)
        yield question.conflict(message, places, of, evidence, certain=False)
        return
    needs = f"needs whether {limit.name} is meant to refuse calls that are made once"
    reply = "(`intended: why`; where it is not, `when_full: fail and lose`)"
    yield question.undecided(f"{needs}: {message} {reply}", places, of)


def _worked_on(limit: Limit) -> str:
    """Returns the thing of whose work a limit counts what is in it, of all its members and at every time."""
    keys = (limit.per, limit.window, limit.during, limit.scope, limit.actions)
    if limit.counts is None or any(key not in (None, ()) for key in keys):
        return ""
    path = limit.counts.tree.path if isinstance(limit.counts.tree, Name) else ""
    thing, _, word = path.rpartition(".")
    return thing if word in RUNNING else counted_in_flight(limit)


def _members(facts: DesignFacts, call: Call) -> Fraction | None:
    """Returns the most members of a caller that may each have this call, made once, under way; None where nobody knows.

    What is called by others, or has a load, makes as many calls as come to it.
    """
    caller, design = str(call.caller), facts.design
    loaded = any(str(other.callee) == caller for other in design.calls) or caller in design.workload
    component = design.components.get(caller)
    once = not retry_policy_of(call).retries and not call.cases and caller not in weights(design)
    if component is None or loaded or not once or call.fallback_for is not None or "load" in component.constants:
        return None
    members = copies(facts, caller)
    return members.high if members is not None and members.high is not None and members.high > 1 else None


def _places(facts: DesignFacts, holding: dict[Call, Fraction]) -> Iterator[Place]:
    for call in holding:
        number = facts.places.get(f"{call.caller}.copies")
        yield from [number.labelled("each may have a call")] if number is not None else []
