"""An analysis as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from coherence.loops.analysis.blame import Subset
from coherence.loops.analysis.design_analysis import Analysis, GroupAnalysis, PointFigures
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.retry_products import Amplified
from coherence.loops.analysis.retuning import Retuning
from coherence.loops.designs.lap_roots import Roots


def as_json(
    path: str, found: Analysis, calls: Sequence[Amplified], tunings: Sequence[Sequence[Retuning]]
) -> dict[str, Any]:
    """The same for programs; numbers as floats, exact ones also as text."""
    pairs = zip(found.groups, tunings, strict=True)
    return {
        "path": path,
        "groups": [{**_group_json(one), "retuning": [_tuning_json(t) for t in tuning]} for one, tuning in pairs],
        "in_no_feedback": [{"loop": name, "reason": why} for name, why in found.alone],
        "retries": [
            {"path": list(c.path), "tries": _number(c.tries), "layers": list(c.layers), "cause": c.cause} for c in calls
        ],
        "assumptions": list(found.assumptions),
    }


def _group_json(one: GroupAnalysis) -> dict[str, Any]:
    answer = one.answer
    return {
        "loops": list(one.group.names),
        "lap_seconds": float(one.lap),
        "exact": {
            "verdict": answer.verdict,
            "grade": "proved" if answer.proved else "simulated" if answer.verdict == "settles" else "bounded",
            "how": answer.how,
            "period_seconds": _number(answer.period),
            "ranges": {signal: [float(low), float(high)] for signal, (low, high) in answer.ranges.items()},
            "starts": answer.starts,
        },
        "from_bounds": None if one.from_bounds is None else one.from_bounds.verdict,
        "smallest_set": _subset_json(one.subset),
        "operating_points": [_point_json(point) for point in one.points],
        "notes": list(one.notes),
    }


def _subset_json(found: Subset | None) -> dict[str, Any] | None:
    return None if found is None else {"loops": list(found.names), "minimal": found.minimal, "how": found.how}


def _point_json(one: PointFigures) -> dict[str, Any]:
    return {
        "at": {path: {"value": float(v), "exact": str(v)} for path, v in one.point.values.items()},
        "acting": list(one.point.acts),
        "outside_bounds": list(one.point.outside),
        "basin": None if one.point.basin is None else {"runs": one.point.basin[0], "of": one.point.basin[1]},
        "grade": "linearised",
        "verdict": one.verdict,
        "reason": one.why,
        "branches": [{"while": name, **_roots_json(found)} for name, found in one.branches],
        "inside_tolerance": None if one.inside is None else _roots_json(one.inside),
        "pair": None if one.pair is None else {"loops": list(one.pair[:2]), "gain": one.pair[2]},
        "smallest_set": _subset_json(one.subset),
        "dropped": list(one.dropped),
        "margins": [_margin_json(found) for found in one.loops],
    }


def _roots_json(found: Roots) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "how": found.how,
        "unstable_roots": found.unstable,
        "growth_per_lap": _number(found.growth),
        "period_seconds": found.period,
        "damping": found.damping,
        "multipliers": [[z.real, z.imag] for z in found.multipliers[:20]],
    }


def _margin_json(found: LoopFigures) -> dict[str, Any]:
    response = found.response
    return {
        "loop": found.loop,
        "factor_low": found.gain_low,
        "factor_high": _number(found.gain_high),
        "certified": found.certified,
        "delay_seconds": _number(found.delay),
        "delay_searched_seconds": float(found.searched),
        "sensitivity_peak": None if response is None else _number(response.peak),
        "sensitivity_at_rad_per_s": None if response is None else response.at,
        "note": found.note,
    }


def _tuning_json(one: Retuning) -> dict[str, Any]:
    edits = one.repair.edits if one.repair else ()
    return {
        "loop": one.loop,
        "what": one.what,
        "value": _number(one.value),
        "verified": one.verified,
        "edits": [
            {"file": e.place.file, "line": e.place.line, "column": e.place.column, "old": e.old, "new": e.new}
            for e in edits
        ],
    }


def _number(number: float | Fraction | None) -> float | None:
    """None where it is infinite or absent: JSON has no infinity."""
    return None if number is None or not math.isfinite(number) else float(number)
