"""Reads numbers of one component, and collects everything that is missing or of the wrong kind."""

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
        """Returns the value; where there is none, it is noted as missing."""
        if found is None:
            self.needs(what, remedy)
        return found

    def duration(self, key: str) -> float | None:
        """Returns a constant in seconds."""
        return self._number(key, SECOND, "5 min")

    def share(self, key: str) -> float | None:
        """Returns a constant without dimension."""
        return self._number(key, ONE, "20 %")

    def count(self, key: str) -> int | None:
        """Returns a whole number, with or without a counter as its unit."""
        number = self._number(key, ONE, "8")
        if number is not None and number != int(number):
            self.needs(f"a whole number for {key}, not {number:g}", f"write for example `{key}: {round(number)}`")
            return None
        return None if number is None else int(number)

    def _number(self, key: str, dimension: Dimension, example: str) -> float | None:
        quantity = self.component.constants.get(key)
        if quantity is None:
            return None
        if not isinstance(quantity, Quantity) or (quantity.dimension.physical != dimension and quantity.low != 0):
            self.needs(f"a number for {key}, not '{quantity}'", f"write for example `{key}: {example}`", quantity.place)
            return None
        return float(quantity.low)


def law_of(span: Quantity | None) -> Law | None:
    """Constant, or uniform on the range."""
    if span is None:
        return None
    return constant(float(span.low)) if span.exact else uniform(float(span.low), float(span.high))
