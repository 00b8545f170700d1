"""Holds a way by which a promised event follows another one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.sentences import Promise
from coherence.verify.events import orders
from coherence.verify.events.graph import Chain
from coherence.verify.patterns.timers import _overrun
from coherence.verify.timers.firing import FiringWindow


@dataclass(frozen=True)
class ResponsePath:
    """How the second event follows the first; `unless` names a timer on it that may be ended first."""

    promise: Promise
    start: str
    chain: Chain
    limit: Fraction
    unless: str = ""
    renewing: tuple[str, ...] = ()  # timers that renew one on the way, and those that end them

    @property
    def window(self) -> FiringWindow:
        return orders.total(self.chain)

    @property
    def reached(self) -> FiringWindow:
        return orders.total_reached(self.chain)

    @property
    def missing(self) -> str:
        """Returns the fact without which it is not known whether it comes in time."""
        late = self.window.latest is None or self.window.latest > self.limit
        return next((link.missing for link in self.chain if link.missing and (late or link.inner is None)), "")

    @property
    def keeps(self) -> bool:
        """Returns whether it comes in time by what is stated, and nothing ends a timer on it first."""
        in_time = self.window.latest is not None and self.window.latest <= self.limit
        return in_time and not self.unless and not self.missing

    @property
    def of(self) -> tuple[str, ...]:
        return (*dict.fromkeys((*_overrun.deciding(self.chain), *self.renewing)), self.promise.name)

    @property
    def places(self) -> tuple[Place, ...]:
        return (
            *_overrun.link_places(reversed(self.chain)),
            self.promise.place.labelled(f"promised here: {self.promise.name}"),
        )
