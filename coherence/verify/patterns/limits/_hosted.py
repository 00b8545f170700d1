"""Compares what members hold of the tier that they run on with its devices: in sum, and shares inside devices.

Beside the members stand the extra copies of an update and the jobs that need devices of the tier.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from coherence.base import solver
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Job, needed
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.schema_kinds import Formula
from coherence.verify.facts.design_facts import PLACED, DesignFacts
from coherence.verify.facts.limits import claims_on, with_caps
from coherence.verify.facts.ranges import enclosure, point, with_ranges
from coherence.verify.facts.tier_shares import Sizes, TierShare, packing, tier_shares, whole
from coherence.verify.jobs.capacity import held_by_jobs
from coherence.verify.patterns.limits._claimed import claim_on
from coherence.verify.patterns.limits.rollout_feasibility import AWAY, EXTRA, thing_counted

QUERY_MS = 5_000


def answers(question: Question, subject: Subject, facts: DesignFacts, tier: str) -> Iterator[Finding]:
    """Yields the answer about a tier without `claims`, or of `claims` and `devices` that differ."""
    shares = list(tier_shares(facts, tier))
    if (formula := claims_on(facts.design, f"{tier}.count")) is not None:
        yield from _disagreeing(question, facts, tier, shares, formula)
        return
    if all(share.needed for share in shares):  # what members need alone is added up for every capacity
        return
    where = shares[0].place.labelled(f"runs on {tier}")
    finding = _fits(question, subject, facts, tier, shares, where)
    if finding.verdict is Verdict.PROVED:
        finding = _beside_members(question, subject, facts, tier, shares, finding)
        if finding.verdict is Verdict.CONFLICT:
            yield finding
            return
    unsaid = {share.component.name: share for share in shares if share.assumed}
    if not unsaid:
        yield finding
    elif finding.verdict is Verdict.CONFLICT:
        yield question.undecided(_devices_needed(tier, unsaid, finding), finding.places, finding.of)
    elif len(shares) > 1 or finding.verdict is not Verdict.PROVED:
        each = f"each member of {_amounts(facts, tier, unsaid)} (`devices` is not stated)"
        yield replace(finding, assumptions=(*finding.assumptions, each))


def _fits(
    question: Question, subject: Subject, facts: DesignFacts, tier: str, shares: list[TierShare], where: Place,
    jobs: Fraction = Fraction(0),
) -> Finding:  # fmt: skip
    """Returns the answer whether shares of a tier fit, in sum and each inside one device, beside what jobs hold."""
    held = Arithmetic("+", whole(shares), Number(jobs)) if jobs else whole(shares)
    finding = claim_on(question, subject, tier, held, where)
    if finding.verdict is Verdict.PROVED and any(not share.assumed for share in shares):
        return _inside_devices(question, with_caps(facts, held), tier, shares, finding, jobs)
    return finding


def _beside_members(
    question: Question, subject: Subject, facts: DesignFacts, tier: str, shares: list[TierShare], fits: Finding
) -> Finding:
    """Returns the proof that members and what comes beside them fit; where it may not fit, what has to be known."""
    extra, where, most = [*_extra(facts, shares)], fits.places[0], shares
    if extra:
        with_extra = _fits(question, subject, facts, tier, [*shares, *extra], where)
        if with_extra.verdict is Verdict.PROVED:
            fits, most = with_extra, [*shares, *extra]
        elif unanswered := [share.members for share in extra if not _is_followed(facts, share)]:
            needs = f"needs room for {' and '.join(unanswered)} during an update: {with_extra.message}"
            return question.undecided(needs, with_extra.places, with_extra.of)
        else:
            free = f"an extra copy of {_owners(extra)} starts only where {tier} has room for it"
            fits = replace(fits, assumptions=(*fits.assumptions, free))
    jobs = [job for job in facts.design.jobs.values() if tier in needed(job)]
    if not jobs:
        return fits
    never = next((job for job in jobs if _never_beside(facts, tier, shares, job)), None)
    if never is not None:
        return _no_room_for(question, facts, tier, shares, never)
    held = held_by_jobs(jobs, tier)
    beside = _fits(question, subject, facts, tier, most, where, held) if held is not None else None
    if beside is not None and beside.verdict is Verdict.PROVED:
        return replace(beside, assumptions=fits.assumptions)
    names, amount = " and ".join(job.name for job in jobs), "" if held is None else f" {render_quantity(held)}"
    needs = f"needs who waits where {names} hold{amount} of {tier} beside members of {_owners(shares)}"
    places = (*fits.places, *(needed(job)[tier].place.labelled(f"one of {job.name} holds this") for job in jobs))
    return question.undecided(needs, places, fits.of)


def _extra(facts: DesignFacts, shares: list[TierShare]) -> Iterator[TierShare]:
    """Yields the shares of the extra copies that limits allow during an update, which hold what each copy holds."""
    by_thing = {share.component.name: share for share in shares}
    for path, limits in facts.counted.items():
        things = {thing for limit in limits if (thing := thing_counted(limit, EXTRA)) in by_thing}
        yield from (replace(by_thing[thing], members=path) for thing in sorted(things))


def _is_followed(facts: DesignFacts, share: TierShare) -> bool:
    """Decides whether the question about updates has both caps, and so answers whether an extra copy has room."""
    return any(thing_counted(limit, AWAY) == share.component.name for limit in facts.design.limits.values())


def _never_beside(facts: DesignFacts, tier: str, shares: list[TierShare], job: Job) -> bool:
    """Decides whether one member of a job finds too little even beside the fewest members."""
    least = facts.range(whole([share for share in shares if not share.assumed])).low
    count = facts.values[f"{tier}.count"].high
    return least is not None and count is not None and needed(job)[tier].low <= count < needed(job)[tier].low + least


def _no_room_for(question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], job: Job) -> Finding:
    need, count = needed(job)[tier], facts.values[f"{tier}.count"].high or Fraction(0)
    stated = [share for share in shares if not share.assumed]
    least = facts.range(whole(stated)).low or Fraction(0)
    held = f"members of {_owners(stated)} hold {render_quantity(least)} of {render_quantity(count)} at least"
    message = f"{job.name} needs {render_quantity(need.low)} of {tier}, and {held}: they never run all at once"
    places = (
        need.place.labelled(f"one of {job.name} holds this"),
        *(share.place.labelled(f"one of {share.component.name} holds this") for share in stated),
        facts.places[f"{tier}.count"].labelled("this many there are"),
    )
    numbers = {"held by members": (least, ""), "needed": (need.low, ""), "count": (count, "")}
    witness = (Step(None, held), Step(None, f"{job.name} waits for more than the rest, or some of them for {job.name}"))
    of = (tier, job.name, *dict.fromkeys(share.component.name for share in stated))
    conflict = question.conflict(message, places, of, arithmetic(numbers, witness=witness))
    return conflict.refuting(*(PLACED.format(share.component.name) for share in stated))


def _owners(shares: list[TierShare]) -> str:
    return " and ".join(dict.fromkeys(share.component.name for share in shares))


def _amounts(facts: DesignFacts, tier: str, unsaid: Mapping[str, TierShare]) -> str:
    """Says how much of a tier each member holds that does not state it."""
    held: dict[str, list[str]] = {}
    for name, share in unsaid.items():
        amount = render_quantity(share.each(facts).high or Fraction(1)) if share.devices else "one"
        held.setdefault(amount, []).append(name)
    return ", of ".join(f"{' and '.join(names)} holds {amount} of {tier}" for amount, names in held.items())


def _devices_needed(tier: str, unsaid: Mapping[str, TierShare], finding: Finding) -> str:
    example = f"`runs_on: {{tier: {tier}, devices: 1}}`"
    each = "at as many as they need" if any(share.devices for share in unsaid.values()) else "at one each"
    return (
        f"needs how much of {tier} each member of {' and '.join(unsaid)} holds: {example}, or `1/7` of one; "
        f"{each} {finding.message}"
    )


def _disagreeing(
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], formula: Formula
) -> Iterator[Finding]:
    """Yields a conflict for each component of which claims and `devices` do not say the same."""
    tree = facts.tree(formula.tree)
    for share in (share for share in shares if not share.assumed):
        by_one = [_with_members(facts, tree, share.members, many) for many in (1, 0)]
        devices = facts.values[share.devices]
        claimed = None if None in by_one else (by_one[0] or 0) - (by_one[1] or 0)
        if claimed is None or not devices.exact or claimed == devices.low:
            continue
        held, stated = render_quantity(Fraction(claimed)), facts.quantities[share.devices]
        name = share.component.name
        own = f"a member needs {stated}" if share.needed else f"its `devices` are {stated}"
        message = f"the claims on {tier} count {held} for each of {name}, and {own}"
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
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], fits: Finding, jobs: Fraction
) -> Finding:
    """Returns the proof where each share has a place inside one device too, else the conflict."""
    sizes, devices = _sizes(facts, shares), _devices_for_shares(facts, tier, shares, jobs)
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
        size = share.each(facts).high
        if size is not None and size < 1:
            sizes[size] += int(facts.range(Name(share.members)).high or 0)
    return +sizes


def _devices_for_shares(facts: DesignFacts, tier: str, shares: list[TierShare], jobs: Fraction) -> int:
    """Returns the devices that are left where jobs, and all members that hold whole ones, have theirs."""
    held = facts.range(whole([share for share in shares if (share.each(facts).high or 0) >= 1])).high or Fraction(0)
    return int((facts.values[f"{tier}.count"].low or Fraction(0)) - held - jobs)


def _no_place(
    question: Question, facts: DesignFacts, tier: str, shares: list[TierShare], parts: str, devices: int
) -> Finding:
    message = f"{parts} of a device of {tier} do not fit into {devices}: each member is inside one device"
    places: list[Place] = [share.place.labelled(f"one of {share.component.name} holds this") for share in shares]
    places.append(facts.places[f"{tier}.count"].labelled("this many there are"))
    most = facts.range(whole(shares)).high or Fraction(0)
    numbers = {"held in sum": (most, ""), "devices for shares": (Fraction(devices), "")}
    witness = (Step(None, parts), Step(None, f"no way to fill {devices} devices has a place for each"))
    fixed = all(facts.range(Name(share.members)).exact and share.each(facts).exact for share in shares)
    of = (tier, *dict.fromkeys(writer.name for share in shares for writer in facts.written.get(share.members, ())))
    conflict = question.conflict(message, places, of, arithmetic(numbers, witness=witness), certain=fixed)
    return conflict.refuting(*(PLACED.format(share.component.name) for share in shares))
