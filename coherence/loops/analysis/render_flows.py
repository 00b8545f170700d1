"""Renders the linear verdicts on flows that feed back without a loop."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.base.number_text import render_seconds
from coherence.loops.designs.flow_feedback import FlowAnswer, FlowPoint
from coherence.loops.networks.delayed_verdict import DelayVerdict


def render_flows(answer: FlowAnswer) -> Iterator[str]:
    """Renders one line for each equilibrium of flows in feedback, or why there is none, and what was not looked at."""
    name = " and ".join(answer.paths)
    if not answer.points:
        yield f"{name}: undecided: {answer.reason}"
    if answer.left_out:
        yield f"{name}: undecided: not looked at: {answer.left_out}"
    for point in answer.points:
        where = ", ".join(f"{path} = {float(point.values[path]):.6g}" for path in answer.paths)
        yield f"{name}: {_flow_point(point)} at {where} [linearised]"


def _flow_point(point: FlowPoint) -> str:
    if point.jumps:
        return f"undecided: {' and '.join(point.jumps)} jumps"
    words = "; ".join(_flow_mode(judged) + (f" while {sides}" if sides else "") for sides, judged in point.branches)
    return words if len(point.branches) == 1 else f"undecided where {len(point.branches)} branches meet: {words}"


def _flow_mode(judged: DelayVerdict) -> str:
    """Renders `unstable, grows 1.91 times every 3.754 s (rightmost root 0.173 +- 1.67j 1/s, confirmed)`."""
    if not judged.rightmost:
        return f"{judged.verdict}, {judged.reason}"
    root, period = judged.rightmost[0], judged.period
    span = period if period is not None else 1.0
    factor = math.exp(min(root.real * span, 700.0))
    turn = f"swings every {render_seconds(float(f'{span:.4g}'))}, " if period is not None else ""
    imaginary = f" +- {root.imag:.4g}j" if root.imag else ""
    confirmed = "confirmed" if judged.confirmed else "others may lie further right"
    every = "a swing" if period is not None else "a second"
    rightmost = f"rightmost root {root.real:.4g}{imaginary} 1/s, {confirmed}"
    return f"{judged.verdict}, {turn}factor {factor:.4g} {every} ({rightmost})"
