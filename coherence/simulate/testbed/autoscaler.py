"""A real delayed loop beside its prediction: an HPA design on real replicas, HAProxy and Prometheus.

The prediction is the exact executor's, on the same design; nothing is fitted.  An observation agrees if its period
is within 10 % of the predicted one and its lowest and highest counts are within one replica; a loop that is
predicted to settle must stand still, at that count or one beside it, from then on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from coherence.base import units
from coherence.base.errors import InternalError
from coherence.language.design import Design
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.execute.orbits import Orbit, long_run
from coherence.simulate.testbed.autoscaler_files import Ports, files, query
from coherence.simulate.testbed.autoscaler_run import Observation, Told, observe
from coherence.simulate.testbed.autoscaler_set_up import AutoscalerSetUp, applies, decided, set_up
from coherence.simulate.testbed.processes import free_ports

PERIOD_WITHIN, REPLICAS_WITHIN = Fraction(1, 10), 1
LAPS, REST = 3, 8  # periods, or decisions at rest, that are observed after the loop has come to its orbit
MOST_DECISIONS = 150


@dataclass(frozen=True)
class Course:
    """Decisions, and what they come to: `period` (s), None at rest, 0 where none was seen; the ends of its range."""

    replicas: tuple[int, ...]
    period: Fraction | None
    lowest: int
    highest: int


@dataclass(frozen=True)
class Comparison:
    """One row: what, as observed and as predicted, and whether that agrees by the rule of this module."""

    what: str
    observed: str
    predicted: str
    agrees: bool


@dataclass(frozen=True)
class Reproduction:
    """An observation beside its prediction."""

    made: AutoscalerSetUp
    predicted: Course
    observed: Course
    observation: Observation

    @property
    def agrees(self) -> bool:
        return all(row.agrees for row in comparisons(self))

    @property
    def alike(self) -> int:
        """How many decisions, from the first on, are exactly the predicted ones."""
        pairs = zip(self.observed.replicas, self.predicted.replicas, strict=True)
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def reproduce_autoscaler(design: Design, *, decisions: int | None = None, told: Told | None = None) -> Reproduction:
    """Run the loop of a design for real, and lay what it did beside what the exact executor says it does.

    `decisions`: how many are observed (default: until three periods, or eight decisions at rest, were to be seen);
    `told` is called with a line for each.  Raises UsageError (the design), ProcessFailedError (the machine).
    """
    made = set_up(design)
    orbit = orbit_of(made)
    number = decisions or _enough(made, orbit)
    predicted = predict(made, orbit, number)
    observation = observe(made, decisions=number, told=told)
    replicas = tuple(decision.desired for decision in observation.decisions)
    return Reproduction(made, predicted, course(replicas, made.plant.period, _settled(made, orbit)), observation)


def write_files(design: Design, folder: Path) -> tuple[Path, ...]:
    """Write what would be run (the dry run): HAProxy's and Prometheus' configuration.  Starts nothing."""
    made = set_up(design)
    folder.mkdir(parents=True, exist_ok=True)
    written = files(made, Ports(*free_ports(3)), folder.resolve())
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in written)


# -- prediction and observation -----------------------------------------------------------------------


def orbit_of(made: AutoscalerSetUp) -> Orbit:
    """What the executor says the loop comes to."""
    orbit = long_run(made.model, Choices()).orbit
    if orbit is None:
        raise InternalError("a loop over whole replicas within bounds must repeat itself, and did not")
    return orbit


def _settled(made: AutoscalerSetUp, orbit: Orbit) -> int:
    """The number of decisions before the orbit."""
    return math.ceil((orbit.start - made.plant.phase) / made.plant.period)


def _enough(made: AutoscalerSetUp, orbit: Orbit) -> int:
    more = REST if orbit.still else LAPS * math.ceil(orbit.period / made.plant.period) + 1
    return min(MOST_DECISIONS, _settled(made, orbit) + more)


def predict(made: AutoscalerSetUp, orbit: Orbit, decisions: int) -> Course:
    """The executor's decisions, and its orbit."""
    until = made.plant.phase + (decisions - 1) * made.plant.period
    replicas = tuple(wanted for _, wanted in decided(made, execute(made.model, until=until)))
    low, high = (int(end) for end in orbit.range_of(made.signal))
    return Course(replicas, None if orbit.still else orbit.period, low, high)


def course(replicas: Sequence[int], period: Fraction, settled: int) -> Course:
    """What a sequence of decisions, one each `period`, comes to after the first `settled` ones.

    Its period is the mean time between climbs through the middle of its range; None if it stands still, and 0
    if it moves and climbs less than twice.
    """
    end = list(replicas[settled:]) or [replicas[-1]]
    low, high = min(end), max(end)
    climbs = [k for k, (a, b) in enumerate(itertools.pairwise(end)) if 2 * a <= low + high < 2 * b]
    swing = (climbs[-1] - climbs[0]) * period / (len(climbs) - 1) if len(climbs) > 1 else Fraction(0)
    return Course(tuple(replicas), None if low == high else swing, low, high)


def comparisons(found: Reproduction) -> tuple[Comparison, ...]:
    """Period, lowest, highest, by the bounds of this module."""
    seen, told = found.observed, found.predicted
    rows = [Comparison("period", _period(seen.period), _period(told.period), _same_period(seen.period, told.period))]
    for what, one, other in (
        ("lowest replicas", seen.lowest, told.lowest),
        ("highest replicas", seen.highest, told.highest),
    ):
        rows.append(Comparison(what, str(one), str(other), abs(one - other) <= REPLICAS_WITHIN))
    return tuple(rows)


def _same_period(seen: Fraction | None, told: Fraction | None) -> bool:
    if seen is None or told is None:
        return seen is told
    return abs(seen - told) <= PERIOD_WITHIN * told


def _period(time: Fraction | None) -> str:
    return "at rest" if time is None else units.seconds(time) if time else "not seen"


# -- in words -----------------------------------------------------------------------------------------


def text(found: Reproduction) -> str:
    """The table of observation beside prediction."""
    made, seen = found.made, found.observation
    rows = [("", "observed", "predicted", "")]
    rows += [(r.what, r.observed, r.predicted, "" if r.agrees else "differs") for r in comparisons(found)]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = ["  ".join((*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3])).rstrip() for row in rows]
    lines += [
        "",
        f"{made.signal}, decision by decision ({found.alike} of {len(seen.decisions)} exactly as predicted):",
        f"  observed   {' '.join(map(str, found.observed.replicas))}",
        f"  predicted  {' '.join(map(str, found.predicted.replicas))}",
        f"{seen.served} of {seen.sent} requests were served; the metric was",
        f"  {query(made)}",
    ]
    if seen.disturbed:
        lines.append(f"disturbed: late by up to {max(seen.late, seen.late_load):.2f} s; run it on a quieter machine")
    return "\n".join(lines) + "\n"


def as_json(found: Reproduction) -> dict[str, object]:
    """The same for programs; times in seconds, `period` null at rest."""
    seen = found.observation
    return {
        "loop": found.made.loop,
        "signal": found.made.signal,
        "metric": query(found.made),
        "observed": _told(found.observed),
        "predicted": _told(found.predicted),
        "agrees": found.agrees,
        "decisions as predicted": found.alike,
        "readings": [[float(d.time), float(d.measured)] for d in seen.decisions],
        "serving": [[float(at), count] for at, count in seen.serving],
        "requests": {"sent": seen.sent, "served": seen.served},
        "lateness": {"plan": seen.late, "load, 99 %": seen.late_load, "slack": float(seen.slack)},
        "disturbed": seen.disturbed,
    }


def _told(made: Course) -> dict[str, object]:
    period = None if made.period is None else float(made.period)
    return {"replicas": list(made.replicas), "period": period, "lowest": made.lowest, "highest": made.highest}


__all__ = [
    "Comparison",
    "Course",
    "Reproduction",
    "applies",
    "as_json",
    "comparisons",
    "reproduce_autoscaler",
    "set_up",
    "text",
    "write_files",
]
