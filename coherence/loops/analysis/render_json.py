"""Renders an analysis as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from coherence.loops.analysis.blame import Subset
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, PointFigures
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.render_margins import delay_json, margins_json
from coherence.loops.analysis.retry_products import Amplified
from coherence.loops.analysis.retuning import Retuning
from coherence.loops.designs.flow_feedback import FlowAnswer
from coherence.loops.designs.lap_roots import Roots
from coherence.loops.networks.delayed_verdict import DelayVerdict


def as_json(
    path: str, analysis: DesignAnalysis, calls: Sequence[Amplified], tunings: Sequence[Sequence[Retuning]]
) -> dict[str, Any]:
    """Returns the analysis for programs; numbers as floats, exact ones also as text."""
    pairs = zip(analysis.groups, tunings, strict=True)
    return {
        "path": path,
        "groups": [{**_group_json(group), "retuning": [_tuning_json(t) for t in tuning]} for group, tuning in pairs],
        "in_no_feedback": [{"loop": name, "reason": why} for name, why in analysis.alone],
        "flows": [_flows_json(answer) for answer in analysis.flows],
        "retries": [
            {"path": list(c.path), "tries": _number(c.tries), "layers": list(c.layers), "cause": c.cause} for c in calls
        ],
        "assumptions": list(analysis.assumptions),
    }


def _group_json(group: GroupAnalysis) -> dict[str, Any]:
    answer = group.answer
    return {
        "loops": list(group.group.names),
        "lap_seconds": float(group.lap),
        "exact": {
            "verdict": answer.verdict,
            "grade": "proved" if answer.proved else "simulated" if answer.verdict == "settles" else "bounded",
            "how": answer.how,
            "period_seconds": _number(answer.period),
            "ranges": {signal: [float(low), float(high)] for signal, (low, high) in answer.ranges.items()},
            "starts": answer.starts,
            "rests": [{name: _plain(number) for name, number in vars(rest).items()} for rest in group.rests],
        },
        "from_bounds": None if group.from_bounds is None else group.from_bounds.verdict,
        "smallest_set": _subset_json(group.subset),
        "operating_points": [_point_json(point) for point in group.points],
        "notes": list(group.notes),
    }


def _flows_json(answer: FlowAnswer) -> dict[str, Any]:
    return {
        "states": list(answer.paths),
        "reason": answer.reason,
        "not_looked_at": answer.left_out,
        "equilibria": [
            {
                "at": {path: float(point.values[path]) for path in answer.paths},
                "grade": "linearised",
                "verdict": point.verdict,
                "jumps": list(point.jumps),
                "branches": [{"while": sides, **_roots_of_flows(judged)} for sides, judged in point.branches],
            }
            for point in answer.points
        ],
    }


def _roots_of_flows(judged: DelayVerdict) -> dict[str, Any]:
    return {
        "verdict": judged.verdict,
        "reason": judged.reason,
        "unstable_roots": judged.unstable,
        "rightmost": [[root.real, root.imag] for root in judged.rightmost],
        "period_seconds": judged.period,
        "certified": judged.certified,
        "confirmed": judged.confirmed,
    }


def _plain(number: Fraction | str) -> float | str:
    return number if isinstance(number, str) else float(number)


def _subset_json(found: Subset | None) -> dict[str, Any] | None:
    return None if found is None else {"loops": list(found.names), "minimal": found.minimal, "how": found.how}


def _point_json(point: PointFigures) -> dict[str, Any]:
    return {
        "at": {path: {"value": float(v), "exact": str(v)} for path, v in point.point.values.items()},
        "acting": list(point.point.acts),
        "outside_bounds": list(point.point.outside),
        "basin": None if point.point.basin is None else {"runs": point.point.basin[0], "of": point.point.basin[1]},
        "grade": "linearised",
        "verdict": point.verdict,
        "reason": point.why,
        "branches": [{"while": name, **_roots_json(figures)} for name, figures in point.branches],
        "inside_tolerance": None if point.inside is None else _roots_json(point.inside),
        "pair": None if point.pair is None else {"loops": list(point.pair[:2]), "gain": point.pair[2]},
        "smallest_set": _subset_json(point.subset),
        "dropped": list(point.dropped),
        "margins": [_margin_json(figures) for figures in point.loops],
    }


def _roots_json(roots: Roots) -> dict[str, Any]:
    return {
        "verdict": roots.verdict,
        "how": roots.how,
        "unstable_roots": roots.unstable,
        "growth_per_lap": _number(roots.growth),
        "period_seconds": roots.period,
        "damping": roots.damping,
        "multipliers": [[z.real, z.imag] for z in roots.multipliers[:20]],
    }


def _margin_json(margin: LoopFigures) -> dict[str, Any]:
    response = margin.response
    return {
        "loop": margin.loop,
        "factor_low": margin.gain_low,
        "factor_high": _number(margin.gain_high),
        "factor_on": "the change of the command" if margin.carries else "the whole command",
        "certified": margin.certified,
        "sensitivity_peak": None if response is None else _number(response.peak),
        "sensitivity_at_rad_per_s": None if response is None else response.at,
        **margins_json(margin.margins),
        "delay_in_the_landing": delay_json(margin.landing),
        "delay_in_the_reading": delay_json(margin.reading),
        "note": margin.note,
    }


def _tuning_json(tuning: Retuning) -> dict[str, Any]:
    edits = tuning.repair.edits if tuning.repair else ()
    return {
        "loop": tuning.loop,
        "what": tuning.what,
        "value": _number(tuning.value),
        "verified": tuning.verified,
        "edits": [
            {"file": e.place.file, "line": e.place.line, "column": e.place.column, "old": e.old, "new": e.new}
            for e in edits
        ],
    }


def _number(number: float | Fraction | None) -> float | None:
    """Returns a float; None where it is infinite or absent, since JSON has no infinity."""
    return None if number is None or not math.isfinite(number) else float(number)
