"""Compares what members hold of the tier that they run on with its devices: in sum, and shares inside devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base import solver
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Name, Tree
from coherence.language.schema_kinds import Formula
from coherence.verify.facts.design_facts import PLACED, DesignFacts
from coherence.verify.facts.limits import claims_on
from coherence.verify.facts.ranges import enclosure, point, with_ranges
from coherence.verify.facts.tier_shares import Sizes, TierShare, packing, tier_shares, whole
from coherence.verify.patterns.limits._claimed import claim_on

QUERY_MS = 5_000


def answers(question: Question, subject: Subject, facts: DesignFacts, tier: str) -> Iterator[Finding]:
    """Yields the answer about a tier without `claims`, or of `claims` and `devices` that differ."""
    shares = list(tier_shares(facts, tier))
    if not shares:
        return
    if (formula := claims_on(facts.design, f"{tier}.count")) is not None:
        yield from _disagreeing(question, facts, tier, shares, formula)
        return
    where = shares[0].place.labelled(f"runs on {tier}")
    finding = claim_on(question, subject, tier, whole(shares), where)
    unsaid = list(dict.fromkeys(share.component.name for share in shares if not share.devices))
    if finding.verdict is Verdict.PROVED and len(unsaid) < len(shares):
        finding = _inside_devices(question, facts, tier, shares, finding)
    if not unsaid:
        yield finding
    elif finding.verdict is Verdict.CONFLICT:
        yield question.undecided(_devices_needed(tier, unsaid, finding), finding.places, finding.of)
    elif len(shares) > 1 or finding.verdict is not Verdict.PROVED:
        each = f"each member of {' and '.join(unsaid)} holds one of {tier} (`devices` is not stated)"
        yield replace(finding, assumptions=(*finding.assumptions, each))


def _devices_needed(tier: str, unsaid: list[str], finding: Finding) -> str:
    example = f"`runs_on: {{tier: {tier}, devices: 1}}`"
    return (
        f"needs how much of {tier} each member of {' and '.join(unsaid)} holds: {example}, or `1/7` of one; "
        f"at one each {finding.message}"
    )


def _disagreeing(
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], formula: Formula
) -> Iterator[Finding]:
    """Yields a conflict for each component of which claims and `devices` do not say the same."""
    tree = facts.tree(formula.tree)
    for share in (share for share in shares if share.devices):
        by_one = [_with_members(facts, tree, share.members, many) for many in (1, 0)]
        devices = facts.values[share.devices]
        claimed = None if None in by_one else (by_one[0] or 0) - (by_one[1] or 0)
        if claimed is None or not devices.exact or claimed == devices.low:
            continue
        held, stated = render_quantity(Fraction(claimed)), facts.quantities[share.devices]
        name = share.component.name
        message = f"the claims on {tier} count {held} for each of {name}, and its `devices` are {stated}"
        places = (formula.place.labelled("the claims say this"), stated.place.labelled("one member holds this"))
        witness = (Step(None, f"{share.members} = 1: {held} are claimed, {stated} are held"),)
        numbers = {"claimed": (Fraction(claimed), ""), "held": (stated.low, "")}
        yield question.conflict(message, places, (tier, name), arithmetic(numbers, witness=witness))


def _with_members(facts: DesignFacts, tree: Tree, path: str, many: int) -> Fraction | None:
    """Returns the claims where one thing has so many members, and nothing else has any."""
    members = {name: point(many if name == path else 0) for name in used(tree) if name in facts.written or name == path}
    claims = enclosure(tree, with_ranges(facts.values, members))
    return claims.low if claims.exact else None


def _inside_devices(
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], fits: Finding
) -> Finding:
    """Returns the proof where each share has a place inside one device too, else the conflict."""
    sizes, devices = _sizes(facts, shares), _devices_for_shares(facts, tier, shares)
    if not sizes:
        return fits
    script = packing(sizes, devices)
    answer = solver.unsat(script, timeout_ms=QUERY_MS)
    parts = ", ".join(f"{many} x {size}" for size, many in sizes.items())
    if answer.unsat:
        return _no_place(question, facts, tier, shares, parts, devices)
    if not answer.model:
        return question.undecided(f"needs more time to place {parts} in {devices} of {tier}", fits.places, fits.of)
    values = {name: int(value) for name, value in re.findall(r"(way_\d+) = (\d+)", answer.model)}
    scripts = solver.joined([fits.evidence.certificate or "", packing(sizes, devices, values)])
    evidence = replace(fits.evidence, certificate=scripts if fits.evidence.certificate else None)
    return replace(fits, evidence=evidence, message=f"{fits.message}, each share inside one device")


def _sizes(facts: DesignFacts, shares: list[TierShare]) -> Sizes:
    sizes: Counter[Fraction] = Counter()
    for share in shares:
        size = facts.values[share.devices].low if share.devices else Fraction(1)
        if size is not None and size < 1:
            sizes[size] += int(facts.range(Name(share.members)).high or 0)
    return +sizes


def _devices_for_shares(facts: DesignFacts, tier: str, shares: list[TierShare]) -> int:
    """Returns the devices that are left where all members that hold whole ones have theirs."""
    whole_ones = [share for share in shares if not share.devices or (facts.values[share.devices].low or 0) >= 1]
    held = facts.range(whole(whole_ones)).high or Fraction(0)
    return int((facts.values[f"{tier}.count"].low or Fraction(0)) - held)


def _no_place(
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], parts: str, devices: int
) -> Finding:
    message = f"{parts} of a device of {tier} do not fit into {devices}: each member is inside one device"
    places: list[Place] = [share.place.labelled(f"one of {share.component.name} holds this") for share in shares]
    places.append(facts.places[f"{tier}.count"].labelled("this many there are"))
    most = facts.range(whole(shares)).high or Fraction(0)
    numbers = {"held in sum": (most, ""), "devices for shares": (Fraction(devices), "")}
    witness = (Step(None, parts), Step(None, f"no way to fill {devices} devices has a place for each"))
    fixed = all(facts.range(Name(share.members)).exact for share in shares)
    of = (tier, *dict.fromkeys(writer.name for share in shares for writer in facts.written.get(share.members, ())))
    conflict = question.conflict(message, places, of, arithmetic(numbers, witness=witness), certain=fixed)
    return conflict.refuting(*(PLACED.format(share.component.name) for share in shares))
