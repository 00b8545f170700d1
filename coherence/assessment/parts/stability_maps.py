"""Computes one stability map of a design: over the two numbers that decide most about whether its loops settle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.findings.finding import Finding, Verdict
from coherence.language.document import Scalar

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry
    from coherence.exploring.sweeps import Cell
    from coherence.exploring.swept_numbers import Axis

POINTS = 5  # of each axis: today's value halved and doubled twice, so that laps of loops stay short
FACTORS = (4, 2, 1.25)  # to the ends of an axis; the largest under which a share stays one
DECIDING = ("by", "period", "gain", "setpoint", "reading_age", "lands_after", "mean", "for")
STABILITY = "COH3"
SHARE = 8  # of the time for all points that one may take
LATE = "not reached in the time of the map"


@dataclass(frozen=True)
class AssessedMap:
    """A map over one or two keys and where today's values stand on it; `refused`: why there is none."""

    axes: tuple[Axis, ...] = ()
    cells: tuple[Cell, ...] = ()
    today: tuple[float, ...] = ()
    refused: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Returns the options of `coherence sweep` that give the map again."""
        ends = [(axis, axis.render(axis.values[0]), axis.render(axis.values[-1])) for axis in self.axes]
        return tuple(
            word for axis, low, high in ends
            for word in ("-p", f"{axis.key}={_written(low, axis)}:{_written(high, axis)}:log:{POINTS}")
        )  # fmt: skip


def _written(number: str, axis: Axis) -> str:
    return f"{number} {axis.unit}".strip()


def stability_map(entry: Entry, findings: Sequence[Finding], names: Sequence[str], seconds: float) -> AssessedMap:
    """Returns the map of a design whose loops in feedback have these names; all points together take so long."""
    from coherence.base.errors import CoherenceError
    from coherence.exploring.swept_numbers import axes

    chosen = keys(entry, findings, names)
    if not chosen:
        return AssessedMap(refused="no loop in feedback states a number of its own that could be varied")
    try:
        drawn = axes([f"{key}={low}:{high}:log:{POINTS}" for key, low, high, _ in chosen], entry.sources)
        cells = _judged(entry, drawn, seconds)
    except CoherenceError as error:
        return AssessedMap(refused=str(error))
    return AssessedMap(drawn, tuple(cells), tuple(today for *_, today in chosen))


def _judged(entry: Entry, drawn: Sequence[Axis], seconds: float) -> list[Cell]:
    """Returns the points in order; those next to today's are judged first, and what is not reached is undecided."""
    from coherence.exploring.sweeps import Cell, PointSetting, judged, points, written
    from coherence.loops.designs.feedback_groups import Deadline

    every, whole, middle = points(drawn), Deadline(seconds), POINTS // 2
    cells = {}
    for point in sorted(every, key=lambda point: max(abs(place - middle) for place in point)):
        if whole.left <= 0:
            cells[point] = Cell(written(drawn, point), "undecided", (), None, None, LATE)
        else:
            limit = min(whole.left, seconds / SHARE)
            cells[point] = judged(drawn, point, entry.sources, entry.rebuild, PointSetting(limit))
    return [cells[point] for point in every]


NO_MAP = AssessedMap()
Chosen = tuple[str, str, str, float]  # the key, its least and greatest value as written, and today's number


def keys(entry: Entry, findings: Sequence[Finding], names: Sequence[str]) -> list[Chosen]:
    """Returns at most two numbers to vary: those that repairs of conflicts change first, then those of the loops."""
    from coherence.exploring.swept_numbers import scalars

    known = dict(scalars(entry.sources))
    ranked: list[str] = []
    for finding in findings:
        if finding.code.startswith(STABILITY) and finding.verdict is Verdict.CONFLICT:
            places = {
                (edit.place.file, edit.place.line, edit.place.column) for r in finding.repairs for edit in r.edits
            }
            ranked += [key for key, scalar in known.items() if _place(scalar) in places]
    ranked += _own(known, names)
    spread = [(key, known[key]) for key in dict.fromkeys(ranked)]
    return [chosen for key, scalar in spread for chosen in _ends(key, scalar)][:2]


def _place(scalar: Scalar) -> tuple[str, int, int]:
    return scalar.place.file, scalar.place.line, scalar.place.column


def _own(known: dict[str, Scalar], names: Sequence[str]) -> Iterator[str]:
    """Yields keys of the loops by how much they decide, one of each loop before a second of any."""
    for word in DECIDING:
        for name in names:
            prefix = f"loops.{name}."
            yield from (key for key in known if key.startswith(prefix) and key.rpartition(".")[2] == word)


def _ends(key: str, scalar: Scalar) -> Iterator[Chosen]:
    """Yields the ends of an axis around a positive number; ranges and what is not above 0 have none."""
    import re

    match = re.fullmatch(r"\+?([0-9][0-9_.eE]*)\s*([^\s.]*)", scalar.text.strip())
    if match is None or not float(match[1].replace("_", "")) > 0:
        return
    number, unit = float(match[1].replace("_", "")), match[2]
    most = 100.0 if unit == "%" and number < 100 else float("inf")
    factor = next((factor for factor in FACTORS if number * factor <= most), FACTORS[-1])
    yield key, f"{number / factor:.12g} {unit}".strip(), f"{number * factor:.12g} {unit}".strip(), number
