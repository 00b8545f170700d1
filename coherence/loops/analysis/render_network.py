"""Renders the analysis of a network of blocks as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.loops.analysis.network_analysis import FACTOR, NetworkAnalysis
from coherence.loops.analysis.render_margins import (
    delay_json,
    disk_json,
    margins_json,
    render_at,
    render_disk,
    render_margins,
)
from coherence.loops.analysis.text_tables import aligned_rows
from coherence.loops.margins.network_margins import Margins
from coherence.loops.margins.peaks import Peak
from coherence.loops.multirate.sampled_system import Multirate

SHOWN = 20  # multipliers in JSON


def text(path: str, analysis: NetworkAnalysis) -> str:
    """Returns the analysis for a reader."""
    net = analysis.network
    samplers = f" and {_counted(net.samplers, 'sampler')}" if isinstance(net, Multirate) else ""
    lines = [f"{path}: {_counted(net.blocks, 'block')}{samplers}, {_counted(net.couplings, 'coupling')}", ""]
    lines += [f"{analysis.verdict}: {analysis.reason}"] if analysis.reason else [analysis.verdict]
    lines += [f"  {what:<22}{value}" for what, value in _rows(analysis)]
    for point in analysis.margins:
        lines += [f"  margins at {point.point}", *aligned_rows(list(_margin_rows(point)), indent="    ")]
    for loop in analysis.opened:
        lines += render_margins(loop, indent="  ")
    for name, low, high in analysis.factors:
        lines.append(f"  gain of {name}: stable times {low or 1 / FACTOR:.6g} to {min(high, FACTOR):.6g}")
    for blame in analysis.blame.sets if analysis.blame else ():
        minimal = "every proper part is stable" if blame.minimal else "not shown to be minimal"
        lines.append(f"  to blame              {' and '.join(blame.loops)} ({minimal})")
    return "\n".join([*lines, *(f"  note: {note}" for note in analysis.notes)]) + "\n"


def _counted(parts: Sized, noun: str) -> str:
    return f"{len(parts)} {noun}{'' if len(parts) == 1 else 's'}"


def _rows(analysis: NetworkAnalysis) -> Iterator[tuple[str, str]]:
    if analysis.delayed is not None:
        delayed = analysis.delayed
        doubt = "" if delayed.confirmed else "; others may lie further right"
        for root in delayed.rightmost:
            yield "rightmost root", f"{root.real:.6g}" + (f" +- {root.imag:.6g}j" if root.imag else "") + f" 1/s{doubt}"
        if delayed.period is not None:
            yield "period", render_seconds(float(f"{delayed.period:.6g}"))
        if delayed.unstable is not None:
            yield "unstable roots", str(delayed.unstable)
        if delayed.certified:
            yield "certified", delayed.certified
    if analysis.sampled is not None:
        yield "growth per lap", f"{analysis.sampled.modulus:.6g} (lap {render_seconds(analysis.sampled.lap)})"
        if analysis.sampled.period is not None:
            yield "period", render_seconds(float(f"{analysis.sampled.period:.6g}"))
        if analysis.sampled.unstable is not None:
            yield "unstable multipliers", str(analysis.sampled.unstable)


def _margin_rows(point: Margins) -> Iterator[tuple[str, str]]:
    unmet = "none found" if point.gap else "any"
    upper = f"{point.upper_gain:.6g}" if math.isfinite(point.upper_gain) else f"above {point.searched:g}"
    yield "gain", f"stable times {point.lower_gain:.6g} to {upper}{render_at(_phase_crossover(point))}"
    phase = f"{point.phase:.5g} deg{render_at(point.crossover)}" if math.isfinite(point.phase) else unmet
    yield "phase", phase
    yield "delay", render_seconds(float(f"{point.delay:.6g}")) if math.isfinite(point.delay) else unmet
    yield "sensitivity", f"Ms {_peak(point.sensitivity)}, Mt {_peak(point.complementary)}"
    yield "disk", render_disk(point.disk)


def _phase_crossover(point: Margins) -> float | None:
    """Returns the frequency at which the loop oscillates with its upper gain margin, rad/s."""
    crossings = [c.frequency for c in point.gains if c.factor == point.upper_gain]
    return crossings[0] if crossings else None


def _peak(peak: Peak) -> str:
    doubt = "" if peak.reached else f", not above {peak.bound:.4g}"
    return f"{peak.value:.4g}{render_at(peak.frequency)}{doubt}"


def as_json(path: str, analysis: NetworkAnalysis) -> dict[str, Any]:
    """Returns the analysis for programs."""
    blame = analysis.blame.sets if analysis.blame else ()
    return {
        "path": path,
        "verdict": analysis.verdict,
        "reason": analysis.reason,
        **_roots_json(analysis),
        "margins": [*map(_margins_json, analysis.margins), *(
            {
                "at": loop.loop, "factor_low": loop.gain_low, "factor_high": finite(loop.gain_high),
                **margins_json(loop.margins),
                "delay_in_the_landing": delay_json(loop.landing), "delay_in_the_reading": delay_json(loop.reading),
                "certified": loop.certified, "gap": loop.note,
            }
            for loop in analysis.opened
        )],
        "factors": [{"at": name, "low": low, "high": finite(high)} for name, low, high in analysis.factors],
        "short_delays": _short_delays_json(analysis),
        "to_blame": [{"blocks": list(b.loops), "minimal": b.minimal} for b in blame],
        "notes": list(analysis.notes),
    }  # fmt: skip


def _short_delays_json(analysis: NetworkAnalysis) -> dict[str, Any] | None:
    late = analysis.late
    if late is None:
        return None
    return {"stable": late.stable, "gain_low": late.low, "gain_high": late.high, "blocks": list(late.names)}


def _roots_json(analysis: NetworkAnalysis) -> dict[str, Any]:
    delayed, sampled = analysis.delayed, analysis.sampled
    unstable = delayed.unstable if delayed else sampled.unstable if sampled else None
    period = delayed.period if delayed else sampled.period if sampled else None
    growth = finite(sampled.growth if sampled else delayed.abscissa if delayed else None)
    return {
        "certified": delayed.certified if delayed else "",
        "unstable": unstable,
        "rightmost": [[z.real, z.imag] for z in (delayed.rightmost if delayed else ())],
        "rightmost_confirmed": delayed.confirmed if delayed else None,
        "growth_per_second": growth,
        "period_seconds": period,
        "lap_seconds": sampled.lap if sampled else None,
        "growth_per_lap": sampled.modulus if sampled else None,
        "multipliers": [[float(z.real), float(z.imag)] for z in sampled.multipliers[:SHOWN]] if sampled else [],
    }


def _margins_json(point: Margins) -> dict[str, Any]:
    return {
        "at": point.point, "factor_low": point.lower_gain, "factor_high": finite(point.upper_gain),
        "phase_degrees": finite(point.phase), "delay_seconds": finite(point.delay), "disk": disk_json(point.disk),
        "gain_crossover_rad_per_s": point.crossover, "phase_crossover_rad_per_s": _phase_crossover(point),
        "gain_crossings": [
            {"frequency_rad_per_s": c.frequency, "phase_degrees": c.phase, "delay_seconds": c.delay}
            for c in point.phases
        ],
        "phase_crossings": [{"frequency_rad_per_s": c.frequency, "factor": c.factor} for c in point.gains],
        "Ms": peak_json(point.sensitivity), "Mt": peak_json(point.complementary), "gap": point.gap,
    }  # fmt: skip


def peak_json(peak: Peak) -> dict[str, Any]:
    """Returns a peak with its bound; a frequency of None: in the limit of high frequencies."""
    return {
        "value": peak.value, "bound": finite(peak.bound), "frequency_rad_per_s": finite(peak.frequency),
        "certified": peak.reached,
    }  # fmt: skip


def finite(number: float | None) -> float | None:
    """Returns a number; None for one that is not finite, which JSON does not have."""
    return number if number is not None and math.isfinite(number) else None
