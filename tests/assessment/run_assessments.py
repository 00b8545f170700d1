"""Assessments that hold a made-up run and nothing else, so that sections are tested without the engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coherence.assessment.parts.answers import Assessment, LoopAnswers
from coherence.assessment.parts.runs import RunAnswers
from coherence.findings.finding import Accounting, Report
from coherence.language.reading import read_text
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.course import CourseCurve, RunCourse, WriteMark
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting

DESIGN = """\
coherence: 1
loops:
  scaler:
    trigger: true
    timescale: {period: 10 s}
    actuation: {signal: pool.copies, law: step, by: 1, bounds: [1, 9], from: 1}
"""


def curve(thing: str, what: str, points: Sequence[tuple[float, float]], unit: str = "") -> CourseCurve:
    """Returns a curve through these points."""
    times, values = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    return CourseCurve(thing, what, unit, times, values)


def assessed(curves: Sequence[CourseCurve] = (), writes: Sequence[WriteMark] = (), **more: Any) -> Assessment:
    """Returns an assessment whose only run went so; `more`: fields of its study."""
    record = RunRecord({}, course=RunCourse(tuple(curves), tuple(writes)))
    study = Study(Setting(100.0, seeds=(1,)), more.pop("samples", ({},)), records=(record,), **more)
    return Assessment("design.yaml", "a system", read_text(DESIGN), Report((), Accounting(), ()), LoopAnswers(), (),
                      runs=RunAnswers(study))  # fmt: skip


def rendered(children: Sequence[Child]) -> str:
    """Returns the HTML of a section's children."""
    return "".join(child if isinstance(child, str) else child.render(str) for child in children)
