"""Moves a design to what is measured, and tells which problems that brings and takes.

A signal whose name is the path of a number of the design, or `W.rate` of a workload with a rate, moves that number to
its mean over the last hour.  The design is checked at these means, and again where one has left the value that it was
last checked at by a tenth, or is measured no longer; between them nothing is checked, and the last answer holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base import units
from coherence.base.errors import CoherenceError
from coherence.checking.reports import report
from coherence.checking.workspace import open_text
from coherence.exploring.swept_numbers import Axis, edited, scalars
from coherence.findings.finding import Severity, Verdict
from coherence.watching.signals import WatchedSystem

TENTH = 1.1
DIGITS = ".12g"  # a mean of equal scrapes is their value: no rounding of its sum makes a number another
MOST_KEPT = 500  # answers
Problems = Mapping[str, str]  # code and policies -> sentence
Check = Callable[[Mapping[str, str]], Problems]


@dataclass
class MeasuredDesign:
    """A design whose numbers follow measurements: their axes by signal, the values that they were last checked at, and
    the problems at all values that were.
    """

    sources: Mapping[str, str]
    axes: Mapping[str, Axis]
    check: Check
    checked: Mapping[str, float] = field(default_factory=dict)
    answers: dict[tuple[tuple[str, float], ...], Problems] = field(default_factory=dict)

    def problems(self, means: Mapping[str, float]) -> Problems:
        """Returns the problems of the design at measured means (SI); of the design as it stands without any."""
        values = {name: means[name] for name in self.axes if 0 < means.get(name, 0) < math.inf}
        if _left(values, self.checked):
            self.checked = values
        key = tuple(sorted(self.checked.items()))
        if key not in self.answers:
            if len(self.answers) >= MOST_KEPT:
                del self.answers[next(iter(self.answers))]
            self.answers[key] = self.check(self._moved(self.checked))
        return self.answers[key]

    def _moved(self, values: Mapping[str, float]) -> Mapping[str, str]:
        edits = [self.axes[name].edit(Fraction(f"{value:{DIGITS}}")) for name, value in values.items()]
        return edited(self.sources, edits)


def _left(values: Mapping[str, float], checked: Mapping[str, float]) -> bool:
    """Tells whether other numbers are measured, or one is a tenth above or below the value it was checked at."""
    return values.keys() != checked.keys() or any(
        not checked[name] / TENTH < value < checked[name] * TENTH for name, value in values.items()
    )


def measured_design(sources: Mapping[str, str], system: WatchedSystem, time_limit: float) -> MeasuredDesign:
    """Returns the design of these texts with the numbers that its signals move."""
    return MeasuredDesign(sources, dict(_axes(sources, system)), lambda texts: _conflicts(texts, time_limit))


def _axes(sources: Mapping[str, str], system: WatchedSystem) -> Iterator[tuple[str, Axis]]:
    known = dict(scalars(sources))
    rates = {load.signal("rate"): f"workload.{load.name}.rate" for load in system.workloads}
    for signal in system.queries:
        scalar = known.get(rates.get(signal, signal))
        if scalar is not None and ".." not in scalar.text and not scalar.quoted:
            unit = scalar.text[len(scalar.text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/%µ")) :]
            dimension = units.unit(unit)[1] if unit else units.ONE
            yield signal, Axis(rates.get(signal, signal), scalar, (), unit, dimension, log=False)


def _conflicts(texts: Mapping[str, str], time_limit: float) -> Problems:
    """Returns the conflicts of a design; that it can no longer be read is one, too."""
    (name, text), *_ = texts.items()
    try:
        findings = report(open_text(text, name), time_limit=time_limit).findings
    except CoherenceError as error:
        return {"design cannot be checked": str(error).splitlines()[0]}
    return {
        f"{finding.code} of {', '.join(finding.of)}": finding.message
        for finding in findings
        if finding.verdict is Verdict.CONFLICT and finding.severity is not Severity.INFO
    }
