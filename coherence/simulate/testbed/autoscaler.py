"""Runs an autoscaler's delayed loop for real (replicas, HAProxy, Prometheus) beside its prediction.

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

from coherence.base.errors import InternalError
from coherence.base.number_text import render_seconds
from coherence.base.output_files import write_outputs
from coherence.language.design import Design
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.execute.orbits import Orbit, long_run
from coherence.simulate.testbed.autoscaler_files import AutoscalerPorts, files, query
from coherence.simulate.testbed.autoscaler_run import AutoscalerObservation, Told, observe
from coherence.simulate.testbed.autoscaler_set_up import AutoscalerSetUp, applies, decided, set_up
from coherence.simulate.testbed.processes import free_ports

PERIOD_WITHIN, REPLICAS_WITHIN = Fraction(1, 10), 1
LAPS, REST = 3, 8  # periods, or decisions at rest, that are observed after the loop has come to its orbit
MOST_DECISIONS = 150


@dataclass(frozen=True)
class ReplicaCourse:
    """Decisions, and what they come to: `period` (s), None at rest, 0 where none was seen; the ends of its range."""

    replicas: tuple[int, ...]
    period: Fraction | None
    lowest: int
    highest: int


@dataclass(frozen=True)
class ComparisonRow:
    """One row: what, as observed and as predicted, and whether that agrees by the rule of this module."""

    what: str
    observed: str
    predicted: str
    agrees: bool


@dataclass(frozen=True)
class AutoscalerReproduction:
    """An observation beside its prediction."""

    setup: AutoscalerSetUp
    predicted: ReplicaCourse
    observed: ReplicaCourse
    observation: AutoscalerObservation

    @property
    def agrees(self) -> bool:
        return all(row.agrees for row in comparisons(self))

    @property
    def alike(self) -> int:
        """How many decisions, from the first on, are exactly the predicted ones."""
        pairs = zip(self.observed.replicas, self.predicted.replicas, strict=True)
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def reproduce_autoscaler(
    design: Design, *, decisions: int | None = None, progress: Told | None = None
) -> AutoscalerReproduction:
    """Run the loop of a design for real, and lay what it did beside what the exact executor says it does.

    `decisions`: how many are observed (default: until three periods, or eight decisions at rest, were to be seen);
    `progress` is called with a line for each.  Raises UsageError (the design), ProcessFailedError (the machine).
    """
    setup = set_up(design)
    orbit = orbit_of(setup)
    number = decisions or _enough(setup, orbit)
    predicted = predict(setup, orbit, number)
    observation = observe(setup, decisions=number, progress=progress)
    replicas = tuple(decision.desired for decision in observation.decisions)
    return AutoscalerReproduction(
        setup, predicted, course(replicas, setup.plant.period, _settled(setup, orbit)), observation
    )


def write_files(design: Design, folder: Path) -> tuple[Path, ...]:
    """Write what would be run (the dry run): HAProxy's and Prometheus' configuration.  Starts nothing."""
    setup = set_up(design)
    texts = files(setup, AutoscalerPorts(*free_ports(3)), folder.resolve())
    return tuple(write_outputs(folder, {name: text.encode() for name, text in texts.items()}))


# -- prediction and observation -----------------------------------------------------------------------


def orbit_of(setup: AutoscalerSetUp) -> Orbit:
    """Returns what the executor says the loop comes to."""
    orbit = long_run(setup.model, Choices()).orbit
    if orbit is None:
        raise InternalError("a loop over whole replicas within bounds must repeat itself, and did not")
    return orbit


def _settled(setup: AutoscalerSetUp, orbit: Orbit) -> int:
    """Returns the number of decisions before the orbit."""
    return math.ceil((orbit.start - setup.plant.phase) / setup.plant.period)


def _enough(setup: AutoscalerSetUp, orbit: Orbit) -> int:
    more = REST if orbit.still else LAPS * math.ceil(orbit.period / setup.plant.period) + 1
    return min(MOST_DECISIONS, _settled(setup, orbit) + more)


def predict(setup: AutoscalerSetUp, orbit: Orbit, decisions: int) -> ReplicaCourse:
    """Returns the executor's decisions, and its orbit."""
    until = setup.plant.phase + (decisions - 1) * setup.plant.period
    replicas = tuple(wanted for _, wanted in decided(setup, execute(setup.model, until=until)))
    low, high = (int(end) for end in orbit.range_of(setup.signal))
    return ReplicaCourse(replicas, None if orbit.still else orbit.period, low, high)


def course(replicas: Sequence[int], period: Fraction, settled: int) -> ReplicaCourse:
    """Returns what a sequence of decisions, one each `period`, comes to after the first `settled` ones.

    Its period is the mean time between climbs through the middle of its range; None if it stands still, and 0
    if it moves and climbs less than twice.
    """
    end = list(replicas[settled:]) or [replicas[-1]]
    low, high = min(end), max(end)
    climbs = [k for k, (a, b) in enumerate(itertools.pairwise(end)) if 2 * a <= low + high < 2 * b]
    swing = (climbs[-1] - climbs[0]) * period / (len(climbs) - 1) if len(climbs) > 1 else Fraction(0)
    return ReplicaCourse(tuple(replicas), None if low == high else swing, low, high)


def comparisons(reproduction: AutoscalerReproduction) -> tuple[ComparisonRow, ...]:
    """Period, lowest, highest, by the bounds of this module."""
    seen, predicted = reproduction.observed, reproduction.predicted
    rows = [
        ComparisonRow(
            "period", _period(seen.period), _period(predicted.period), _same_period(seen.period, predicted.period)
        )
    ]
    for what, seen_replicas, predicted_replicas in (
        ("lowest replicas", seen.lowest, predicted.lowest),
        ("highest replicas", seen.highest, predicted.highest),
    ):
        rows.append(
            ComparisonRow(
                what,
                str(seen_replicas),
                str(predicted_replicas),
                abs(seen_replicas - predicted_replicas) <= REPLICAS_WITHIN,
            )
        )
    return tuple(rows)


def _same_period(seen: Fraction | None, progress: Fraction | None) -> bool:
    if seen is None or progress is None:
        return seen is progress
    return abs(seen - progress) <= PERIOD_WITHIN * progress


def _period(time: Fraction | None) -> str:
    return "at rest" if time is None else render_seconds(time) if time else "not seen"


# -- in words -----------------------------------------------------------------------------------------


def text(reproduction: AutoscalerReproduction) -> str:
    """Returns the table of observation beside prediction."""
    setup, seen = reproduction.setup, reproduction.observation
    rows = [("", "observed", "predicted", "")]
    rows += [(r.what, r.observed, r.predicted, "" if r.agrees else "differs") for r in comparisons(reproduction)]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = ["  ".join((*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3])).rstrip() for row in rows]
    lines += [
        "",
        f"{setup.signal}, decision by decision ({reproduction.alike} of {len(seen.decisions)} exactly as predicted):",
        f"  observed   {' '.join(map(str, reproduction.observed.replicas))}",
        f"  predicted  {' '.join(map(str, reproduction.predicted.replicas))}",
        f"{seen.served} of {seen.sent} requests were served; the metric was",
        f"  {query(setup)}",
    ]
    if seen.disturbed:
        lines.append(f"disturbed: late by up to {max(seen.late, seen.late_load):.2f} s; run it on a quieter machine")
    return "\n".join(lines) + "\n"


def as_json(reproduction: AutoscalerReproduction) -> dict[str, object]:
    """Returns the same for programs; times in seconds, `period` null at rest."""
    seen = reproduction.observation
    return {
        "loop": reproduction.setup.loop,
        "signal": reproduction.setup.signal,
        "metric": query(reproduction.setup),
        "observed": _course_to_dict(reproduction.observed),
        "predicted": _course_to_dict(reproduction.predicted),
        "agrees": reproduction.agrees,
        "decisions as predicted": reproduction.alike,
        "readings": [[float(d.time), float(d.measured)] for d in seen.decisions],
        "serving": [[float(at), count] for at, count in seen.serving],
        "requests": {"sent": seen.sent, "served": seen.served},
        "lateness": {"plan": seen.late, "load, 99 %": seen.late_load, "slack": float(seen.slack)},
        "disturbed": seen.disturbed,
    }


def _course_to_dict(course: ReplicaCourse) -> dict[str, object]:
    period = None if course.period is None else float(course.period)
    return {"replicas": list(course.replicas), "period": period, "lowest": course.lowest, "highest": course.highest}


__all__ = [
    "AutoscalerReproduction",
    "ComparisonRow",
    "ReplicaCourse",
    "applies",
    "as_json",
    "comparisons",
    "reproduce_autoscaler",
    "set_up",
    "text",
    "write_files",
]
