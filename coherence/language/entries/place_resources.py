"""Gives a place what is stated of the component of its name: the two are one thing."""

from __future__ import annotations

from coherence.language.design import Component, Design, Job, needed
from coherence.language.schema_kinds import Quantity


def with_resources(design: Design) -> Design:
    """Returns the design whose places have the resources that their components state and that somebody needs."""
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    wanted = {resource for owner in owners for resource in needed(owner)}
    given = {name: _stated(design.components.get(name), wanted) for name in design.places}
    if not any(given.values()):
        return design
    return design.replace(places={name: given[name] | place for name, place in design.places.items()})


def _stated(component: Component | None, wanted: set[str]) -> dict[str, Quantity]:
    constants = component.constants if component is not None else {}
    return {word: value for word in wanted if isinstance(value := constants.get(word), Quantity)}
