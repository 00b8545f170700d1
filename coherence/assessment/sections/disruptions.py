"""Draws what went wrong when, in one run: waiting, failing and empty spans, loops at their bounds, acts, breaches."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, table
from coherence.assessment.parts.runs import curves_of, loop_bounds, sampled, spans
from coherence.base.number_text import render_clock
from coherence.reporting.pictures.lanes import Lane, lanes_drawing
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.repeated_runs import PromiseVerdict

ORDER, TITLE = 68, "Disruption timeline"
MOST = 24
SUCCEED = 99.0  # %: fewer are a disruption


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns a lane for each thing with a disruption, and the same as a table."""
    runs = assessment.runs
    lanes = [lane for lane in _lanes(assessment) if lane.spans or lane.moments]
    if runs.refused or not lanes:
        return (note(f"Not drawn: {runs.refused or 'nothing was disrupted and no loop acted in the run'}."),)
    drawn = lanes_drawing(f"Disruptions of {assessment.system}", lanes[:MOST], runs.end)
    rows = [_row(lane, runs.end) for lane in lanes[:MOST]]
    left = note(f"{len(lanes) - MOST} further lanes are left out.") if len(lanes) > MOST else ""
    header = ("what", "spans", "of the run", "moments", "first at")
    return (
        pictured(drawn, "One run: bars last, upright marks are moments.", wide=True),
        table("The same in numbers", header, rows, numbers="1 2 3"), left,
        reproduced("simulate", assessment.path, *runs.command, "--picture", "run.svg"),
    )  # fmt: skip


def _lanes(assessment: Assessment) -> Iterator[Lane]:
    """Yields breaches, failures, waits, bounds and acts, the gravest first."""
    runs = assessment.runs
    for promise in runs.study.promises if runs.study else ():
        if promise.verdict is PromiseVerdict.BROKEN and promise.seconds is not None and promise.seed in (1, None):
            when = "last not so" if promise.promise.kind.startswith("eventually") else "first broken"
            yield Lane(f"promise {promise.promise.name}: {when}", moments=(promise.seconds,))
    for curve in curves_of(runs.course, "succeed"):
        yield Lane(f"{curve.thing}: failing", tuple(spans(curve.times, curve.values < SUCCEED, runs.end)), (), "bad")
    servers = {curve.thing: curve for curve in curves_of(runs.course, "servers")}
    for curve in curves_of(runs.course, "queue"):
        there = sampled(servers[curve.thing], curve.times) if curve.thing in servers else 1.0
        crowded = tuple(spans(curve.times, curve.values > there, runs.end))
        yield Lane(f"{curve.thing}: more wait than are served", crowded, (), "open")
    bounds = dict(loop_bounds(assessment.design))
    for curve in curves_of(runs.course, "signal"):
        if curve.thing in bounds:
            low, high = bounds[curve.thing]
            held = (curve.values <= low) | (curve.values >= high)
            yield Lane(f"{curve.thing}: at a bound", tuple(spans(curve.times, held, runs.end)), (), "none")
    loops = dict.fromkeys(write.loop for write in runs.course.writes)
    for name in loops:
        yield Lane(f"{name} acts", (), tuple(write.time for write in runs.course.writes if write.loop == name))


def _row(lane: Lane, end: float) -> tuple[str, ...]:
    first = min([start for start, _ in lane.spans] + list(lane.moments))
    share = sum(last - start for start, last in lane.spans) / end if end else 0.0
    clock = render_clock(round(first)) if first >= 60 else render_clock(round(first, 3))
    lasting = any(last > start for start, last in lane.spans)
    return (lane.name, str(len(lane.spans) or ""), f"{100 * share:.0f} %" if lasting else "",
            str(len(lane.moments) or ""), clock)  # fmt: skip
