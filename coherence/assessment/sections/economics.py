"""Puts money beside findings where prices are declared, and says what is missing where they are not."""

from __future__ import annotations

from fractions import Fraction

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, reference, reproduced, table
from coherence.base.units import unit
from coherence.findings.finding import Finding
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 100, "Economic risk"
HOUR = 3600
MISSING = (
    "No price is declared, so no money is computed. Add one for each tier, such as prices: {h100: 2.5 usd/h}, and give "
    "telemetry (--telemetry) for what was lost."
)
ENGINEERS = "Time of engineers on wrong causes is not computed: no telemetry of infrastructure has it."


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns what the tiers cost and the most that each finding can waste of it."""
    costs = tier_costs(assessment.design)
    if not costs:
        return (note(MISSING), note(ENGINEERS))
    tiers = [(name, f"{float(count):g}", _money(cost)) for name, (count, cost) in costs.items()]
    paid = table("What the tiers cost", ("tier", "members", "usd per h"), tiers, numbers="1 2")
    rows = [(reference(assessment.anchor(f)), f.message, *_stake(assessment.design, f, costs))
            for f in assessment.open_findings]  # fmt: skip
    header = ("no.", "finding", "tiers it touches", "at most, usd per h")
    stakes = table("The most that a finding can waste", header, rows, numbers="3") if rows else note("Nothing is open.")
    where = "it stands" if assessment.measured else "give --telemetry, and it stands"
    limit = note(
        "At most: all that the tiers cost which the finding's things run on. What was lost is measured, not computed "
        f"from a design: {where} below capacity and losses."
    )
    return (paid, stakes, limit, note(ENGINEERS), reproduced("report", assessment.path))


def tier_costs(design: Design) -> dict[str, tuple[Fraction, Fraction]]:
    """Returns the number of members and the cost of all of them, in usd/h, of each tier with a price and a number."""
    dollars, costs = unit("usd/s")[1], {}
    for name, price in design.prices.items():
        tier = design.tiers.get(name)
        if tier and tier.count and isinstance(price, Quantity) and price.dimension == dollars:
            costs[name] = (tier.count.high, tier.count.high * price.high * HOUR)
    return costs


def _stake(design: Design, finding: Finding, costs: dict[str, tuple[Fraction, Fraction]]) -> tuple[str, str]:
    """Returns the tiers that the things of a finding run on, and what they cost."""
    calls = {call.name: (str(call.caller), str(call.callee)) for call in design.calls}
    loops = {loop.name: (loop.written.split(".")[0],) for loop in design.loops.values() if loop.written}
    things = {part for name in finding.of for part in (name.split(".")[0], *calls.get(name, ()), *loops.get(name, ()))}
    hosts = {part.name: part.runs_on.text for part in design.components.values() if part.runs_on}
    tiers = sorted({hosts.get(thing, thing) for thing in things} & set(costs))
    total = sum((costs[name][1] for name in tiers), Fraction(0))
    return ", ".join(tiers) or "none with a price", _money(total) if tiers else "not known"


def _money(amount: Fraction) -> str:
    return f"{float(amount):,.2f}"
