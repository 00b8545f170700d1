"""Reads from a design the ranges of a bound's symbols, with their places, or the key that is missing.

A bound's `applies` collects an Application with a `Gathered`: every value that stands in the design comes with its
place, and what does not stand there is asked for by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.call_cases import is_conditional
from coherence.language.design import Call, Component, Design
from coherence.language.infrastructure import Tier
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.workloads import Workload
from coherence.minimums.bound import Application
from coherence.minimums.floors import Span


class Gathered:
    """Collects the ranges of one application."""

    def __init__(self, thing: str) -> None:
        self.thing = thing
        self.spans: dict[str, Span] = {}
        self.missing: dict[str, str] = {}
        self.places: list[Place] = []
        self.assumptions: tuple[str, ...] = ()

    def quantity(self, symbol: str, stated: object, key: str) -> Gathered:
        """Adds the range of a quantity of the design; `key` is what to write (or measure) where there is none."""
        if isinstance(stated, Quantity):
            self.spans[symbol] = (stated.low, stated.high)
            self.places.append(stated.place.labelled(f"{symbol} of {self.thing}"))
        else:
            self.missing[symbol] = key
        return self

    def span(self, symbol: str, low: Fraction | float, high: Fraction | float | None = None) -> Gathered:
        """Adds a range that is computed."""
        self.spans[symbol] = (low, low if high is None else high)
        return self

    def needs(self, symbol: str, key: str) -> Gathered:
        """Adds a symbol that no design states: what to measure."""
        self.missing[symbol] = key
        return self

    def application(self) -> Application:
        """Returns the application as far as it is known."""
        places = tuple(dict.fromkeys(self.places))
        return Application(self.thing, dict(self.spans), dict(self.missing), places, self.assumptions)


@dataclass(frozen=True)
class ServingStage:
    """Requests of a workload that a component serves: the station of a queueing bound."""

    workload: Workload
    component: Component | None
    call: Call | None
    name: str

    @property
    def servers(self) -> Quantity | None:
        """Returns how many work at once, where the design says a number."""
        copies = self.component.copies if self.component is not None else None
        return copies if isinstance(copies, Quantity) else None

    @property
    def service(self) -> Quantity | None:
        """Returns the mean time of one request on one server."""
        service = self.workload.service
        return service if isinstance(service, Quantity) else getattr(service, "mean", None)

    @property
    def cv(self) -> Quantity | None:
        """Returns the coefficient of variation of the service time."""
        return getattr(self.workload.service, "cv", None)


def stages(design: Design) -> Iterator[ServingStage]:
    """Yields every call that all requests of a workload make."""
    for call in design.calls:
        if is_conditional(call):
            continue
        workload = design.workload.get(call.caller.text) if call.caller else None
        if workload is not None and call.callee is not None:
            yield ServingStage(workload, design.components.get(call.callee.text), call, call.name)


def constant(owner: Component | Tier, *keys: str) -> Quantity | None:
    """Returns the first of these keys that the thing (or its part) gives a number for."""
    for key in keys:
        stated: Quantity | Formula | Word | None = owner.constants.get(key)
        if isinstance(stated, Quantity):
            return stated
    return None
