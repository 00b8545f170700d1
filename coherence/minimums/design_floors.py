"""Computes every floor of a design: each bound at each thing it speaks of, or what is missing for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.language.design import Design
from coherence.minimums.bound import Application, Bound
from coherence.minimums.floors import Floor, over
from coherence.minimums.registry import bounds


@dataclass(frozen=True)
class DesignFloor:
    """A bound at one thing of the design.  `floor` is None where `why` says what is missing or does not fit."""

    bound: Bound
    application: Application
    floor: Floor | None
    why: str = ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns the names of what the bound and the reading of the design assume."""
        return (*self.bound.assumptions, *self.application.assumptions)


def design_floors(design: Design, chosen: Iterable[Bound] | None = None) -> tuple[DesignFloor, ...]:
    """Returns the floors by loss type, then by bound and thing; the same in every run."""
    applications = [
        floor_of(bound, application)
        for bound in (bounds() if chosen is None else chosen)
        if bound.applies is not None
        for application in bound.applies(design)
    ]
    return tuple(
        sorted(
            applications,
            key=lambda application: (application.bound.loss, application.bound.name, application.application.thing),
        )
    )


def floor_of(bound: Bound, application: Application) -> DesignFloor:
    """Returns a bound at one thing; what is missing or does not fit becomes the reason."""
    if application.missing:
        needs = "; ".join(f"needs {key}" for key in dict.fromkeys(application.missing.values()))
        return DesignFloor(bound, application, None, needs)
    try:
        return DesignFloor(bound, application, over(bound, application.spans))
    except UsageError as error:
        return DesignFloor(bound, application, None, str(error))
