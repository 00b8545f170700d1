"""Lets requests flow evenly through a program: as many as come on average, served as long as services take on average.

It counts what a run of requests counts, without chance: loops over it come to rest where they ever do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from coherence.simulate.requests.first_tries import first_tries, mean_rate
from coherence.simulate.requests.program import PlanShare, Program
from coherence.simulate.requests.service_means import mean_of


class EvenFlow:
    """Requests as a fluid: what stations cannot serve waits.  Every try that comes is answered in the end.

    It counts in fractions, so that rates that stay are read as the same number each time.
    """

    seed, stopped = 0, ""

    def __init__(self, program: Program) -> None:
        self.time, self.program = 0.0, program
        self.means = {station.name: Fraction(mean_of(station.service)) for station in program.stations}
        self._flow()
        self.sent = dict.fromkeys(self.tries, Fraction(0))
        self.servers = {station.name: station.servers for station in program.stations}
        self.queue = dict.fromkeys(self.means, Fraction(0))
        self.served = dict.fromkeys(self.means, Fraction(0))

    def _flow(self) -> None:
        """Computes what goes by each route, and what each station is offered (1/s)."""
        self.tries = {name: Fraction(rate) for name, rate in first_tries(self.program, mean_rate).items()}
        self.offered = dict.fromkeys(self.means, Fraction(0))
        for route in self.program.routes:
            self.offered[route.station] += self.tries[route.name]

    @property
    def overloaded(self) -> bool:
        """Returns whether something waits, or no less comes than can be served."""
        return any(
            self.queue[name] > 0 or self.offered[name] * mean >= self.servers[name]
            for name, mean in self.means.items()
            if mean
        )

    def advance(self, until: float) -> None:
        """Flows on to a time (s)."""
        span = Fraction(until) - Fraction(self.time)
        for name, mean in self.means.items():
            there = self.queue[name] + self.offered[name] * span
            done = min(there, self.servers[name] / mean * span) if mean else there
            self.served[name] += done
            self.queue[name] = there - done
        for name, rate in self.tries.items():
            self.sent[name] += rate * span
        self.time = until

    def set_servers(self, station: str, servers: int) -> None:
        """From now on a station has so many servers."""
        self.servers[station] = servers

    def set_weights(self, owner: str, weights: Sequence[float]) -> None:
        """From now on the requests of a source or a station are divided among its cases by these weights.

        Where all are 0, they are divided as before.
        """
        if not any(weights):
            return
        self.program = replace(
            self.program,
            sources=tuple(
                replace(one, cases=_weighed(one.cases, weights)) if one.name == owner else one
                for one in self.program.sources
            ),
            stations=tuple(
                replace(one, cases=_weighed(one.cases, weights)) if one.name == owner else one
                for one in self.program.stations
            ),
        )
        self._flow()

    def observe(self) -> dict[str, Any]:
        """Returns all counts now."""
        counts: dict[str, Any] = {"time": Fraction(self.time)}
        counts |= {f"{route}.tries": count for route, count in self.sent.items()}
        for name, mean in self.means.items():
            counts |= {f"{name}.queue": self.queue[name], f"{name}.servers": self.servers[name]}
            counts |= {f"{name}.served": self.served[name], f"{name}.busy_seconds": self.served[name] * mean}
        return counts


def _weighed(cases: Sequence[PlanShare], weights: Sequence[float]) -> tuple[PlanShare, ...]:
    return tuple(replace(case, weight=weight) for case, weight in zip(cases, weights, strict=True))
