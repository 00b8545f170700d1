"""Shows what runs where: boundaries around tiers, tiers with their components, and links between them."""

from __future__ import annotations

from collections.abc import Iterable

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, table
from coherence.language.design import Design
from coherence.language.infrastructure import Boundary
from coherence.reporting.pictures.markup import Child, Element, h

ORDER, TITLE = 50, "Topology"


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns nested boxes, and a table of links and of what boundaries change."""
    design = assessment.design
    if not (design.tiers or design.components or design.workload):
        return (note("The design declares no tier, component or workload."),)
    inside = {inner.text for boundary in design.boundaries.values() for inner in boundary.around}
    held = {part.runs_on.text for part in design.components.values() if part.runs_on}
    boxes = [_boundary(design, boundary) for boundary in design.boundaries.values()]
    boxes += [_tier(design, name) for name in dict.fromkeys((*design.tiers, *sorted(held))) if name not in inside]
    shown = inside | held | set(design.tiers)
    loose = [name for name, part in design.components.items() if name not in shown and part.runs_on is None]
    boxes += [_box("no tier stated", "loose", loose)] if loose else []
    boxes += [_box("workload", "loose", design.workload)] if design.workload else []
    return (h("div", *boxes, class_="topology"), *_links(design), *_crossings(design))


def _box(title: str, kind: str, names: Iterable[str]) -> Element:
    chips = [h("li", name) for name in names]
    return h("div", h("p", title, class_="boxname"), *([h("ul", *chips)] if chips else []), class_=f"box {kind}")


def _tier(design: Design, name: str) -> Element:
    tier = design.tiers.get(name)
    count = f" × {tier.count}" if tier and tier.count else ""
    part = f", {tier.part.text}" if tier and tier.part else ""
    inner = [own.name for own in design.components.values() if own.runs_on and own.runs_on.text == name]
    return _box(f"{name}{count}{part}", "tier", inner)


def _boundary(design: Design, boundary: Boundary) -> Element:
    """Returns a box with the tiers and components that the boundary is around."""
    names = [inner.text for inner in boundary.around]
    tiers = [_tier(design, name) for name in names if name in design.tiers]
    loose = [h("li", name) for name in names if name not in design.tiers]
    title = f"{boundary.kind.text if boundary.kind else 'boundary'} {boundary.name}"
    inner: list[Child] = [h("p", title, class_="boxname"), *tiers]
    return h("div", *inner, *([h("ul", *loose)] if loose else []), class_="box boundary")


def _links(design: Design) -> Iterable[Child]:
    links = design.infrastructure.links if design.infrastructure else ()
    rows = [
        (" - ".join(end.text for end in link.ends), link.part.text if link.part else "?",
         ", ".join(f"{key} {value}" for key, value in link.constants.items()) or "?")
        for link in links
    ]  # fmt: skip
    return (table("Links", ("between", "part", "stated"), rows),) if rows else ()


def _crossings(design: Design) -> Iterable[Child]:
    rows = [
        (boundary.name, str(boundary.added_delay or "0 s"), str(boundary.reading_delay or "0 s"),
         ", ".join(word.text for word in boundary.hides) or "nothing")
        for boundary in design.boundaries.values()
    ]  # fmt: skip
    header = ("boundary", "commands are later by", "readings are later by", "hides")
    return (table("What boundaries change", header, rows, numbers="1 2"),) if rows else ()
