"""Executes the loops of a design at many points at once, from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.base.number_text import render_seconds
from coherence.door.quantities import Amount, exact
from coherence.door.result import VerbResult, head
from coherence.model.model import Model
from coherence.simulate.execute.instants import Choices

if TYPE_CHECKING:
    from pandas import DataFrame

    from coherence.simulate.batched.executor import BatchedRun


@dataclass(frozen=True, repr=False)
class PointRunsResult(VerbResult):
    """Runs of one design at many points: `runs.series[signal][i, j]` at `runs.times[i]` for point j, in SI units.

    Numbers are floats.  Where rounding might have decided a branch the point was run again exactly (`runs.again`).
    """

    runs: BatchedRun = field(compare=False)
    name: str = field(compare=False)

    def to_frame(self) -> DataFrame:
        """Returns a row for each instant of each point: point, its values, time_s (s), and a column for each signal.

        The value of a signal at the beginning stands under `SIGNAL at 0 s`.
        """
        import numpy as np
        import pandas as pd

        points, times = self.data["points"], self.data["times_s"]
        count = len(next(iter(points.values())))
        columns: dict[str, Any] = {"point": np.repeat(np.arange(count), len(times))}
        for path, levels in points.items():
            columns[f"{path} at 0 s" if path in self.runs.series else path] = np.repeat(np.array(levels), len(times))
        columns["time_s"] = np.tile(np.array(times), count)
        return pd.DataFrame(columns | {path: levels.T.reshape(-1) for path, levels in self.runs.series.items()})

    def _lines(self) -> Sequence[str]:
        points, times = self.data["points"], self.data["times_s"]
        return (
            f"PointRunsResult: {len(next(iter(points.values())))} points of {', '.join(points)}",
            f"  {len(times)} instants to {render_seconds(times[-1] if times else 0)}",
            f"  {len(self.runs.series)} signals; {len(self.runs.again)} points run again exactly; .to_frame()",
        )


def executed_at_points(
    model: Model, choices: Choices, points: Mapping[str, Sequence[Amount]], until: Fraction, name: str
) -> PointRunsResult:
    """Returns the runs of a model at points, to `until` seconds.  Raises UsageError where there is none."""
    from coherence.simulate.batched.executor import execute_many

    exact_points = {model.resolve(path): [exact(level, path) for level in levels] for path, levels in points.items()}
    counts = {path: len(levels) for path, levels in points.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        numbers = ", ".join(f"{count} of {path}" for path, count in counts.items()) or "none"
        raise UsageError(f"points need as many values of each path, and at least one: there are {numbers}")
    runs = execute_many(model, exact_points, until=until, choices=choices)
    data = {
        **head("execute"),
        "points": {path: [float(level) for level in levels] for path, levels in exact_points.items()},
        "times_s": [float(time) for time in runs.times],
        "after": {path: levels.tolist() for path, levels in runs.series.items()},
        "run_again_exactly": list(runs.again),
    }
    return PointRunsResult(data, runs, name)
