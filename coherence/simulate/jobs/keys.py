"""Numbers of one component, with everything that is missing or of the wrong kind collected."""

from __future__ import annotations

from typing import TypeVar

from coherence.base.errors import Problem
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension
from coherence.language.design import Component
from coherence.language.schema_kinds import Quantity
from coherence.simulate.jobs.job import Law, constant, uniform

T = TypeVar("T")


class Keys:
    """Reads the keys of a component as seconds, counts and shares; an unknown constant stands at its lower end."""

    def __init__(self, component: Component, problems: list[Problem]) -> None:
        self.component, self.problems, self.name = component, problems, component.name

    def needs(self, what: str, remedy: str, place: Place | None = None) -> None:
        """Note a fact without which there is no run."""
        self.problems.append(Problem(place or self.component.place, f"{self.name} cannot run: needs {what}", remedy))

    def law(self, activity: str) -> Law | None:
        """`takes: {activity: a .. b}`: constant, or uniform on the range."""
        return law_of((self.component.takes or {}).get(activity))

    def need(self, found: T | None, what: str, remedy: str) -> T | None:
        """The value; where there is none, it is noted as missing."""
        if found is None:
            self.needs(what, remedy)
        return found

    def duration(self, key: str) -> float | None:
        """A constant in seconds."""
        return self._number(key, SECOND, "5 min")

    def share(self, key: str) -> float | None:
        """A constant without dimension."""
        return self._number(key, ONE, "20 %")

    def count(self, key: str) -> int | None:
        """A whole number, with or without a counter as its unit."""
        found = self._number(key, ONE, "8")
        if found is not None and found != int(found):
            self.needs(f"a whole number for {key}, not {found:g}", f"write for example `{key}: {round(found)}`")
            return None
        return None if found is None else int(found)

    def _number(self, key: str, dimension: Dimension, example: str) -> float | None:
        found = self.component.constants.get(key)
        if found is None:
            return None
        if not isinstance(found, Quantity) or (found.dimension.physical != dimension and found.low != 0):
            self.needs(f"a number for {key}, not '{found}'", f"write for example `{key}: {example}`", found.place)
            return None
        return float(found.low)


def law_of(span: Quantity | None) -> Law | None:
    """Constant, or uniform on the range."""
    if span is None:
        return None
    return constant(float(span.low)) if span.exact else uniform(float(span.low), float(span.high))
