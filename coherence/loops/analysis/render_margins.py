"""Renders the margins of a sampled loop as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.loops.analysis.delay_margins import DelayMargin
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.text_tables import aligned_rows
from coherence.loops.margins.network_margins import Disk
from coherence.loops.margins.sampled_margins import MOST_GAIN, CirclePeak, MarginEdge, SampledMargins

LONGEST = 1e9  # s, of a period: a peak at slower ones is one at rest


def render_margins(loop: LoopFigures, indent: str = "    ") -> list[str]:
    """Renders the margins of one loop, a line for each."""
    return [f"{indent}margins of {loop.loop}", *aligned_rows(list(_rows(loop)), indent=f"{indent}  ")]


def _rows(loop: LoopFigures) -> Iterator[tuple[str, str]]:
    yield "gain", _factors(loop)
    if loop.margins is not None:
        yield "phase", render_phase(loop.margins.phase)
    if loop.landing is not None and loop.reading is not None:
        yield "delay in the landing", render_delay(loop.landing)
        yield "delay in the reading", render_delay(loop.reading)
    if loop.margins is not None:
        yield "sensitivity", f"Ms {_peak(loop.margins.sensitivity)}, Mt {_peak(loop.margins.complementary)}"
        yield "disk", render_disk(loop.margins.disk)
    elif loop.response is not None:
        yield "sensitivity", f"Ms {loop.response.peak:.4g} (an estimate, on a grid){render_at(loop.response.at)}"
    if loop.note:
        yield "", loop.note


def _factors(loop: LoopFigures) -> str:
    if loop.gain_low is None or loop.gain_high is None:
        return "no stable factor found"
    high = f"{MOST_GAIN:g} and above" if math.isinf(loop.gain_high) else f"{loop.gain_high:.6g}"
    edge = loop.margins.high if loop.margins is not None else None
    at = render_at(edge.frequency) if edge is not None and edge.frequency is not None else ""
    doubt = "" if loop.certified else " (an estimate)"
    low = f"{loop.gain_low:.6g} to " if loop.gain_low else "up to "
    on = ", on what the law changes of its command, not on what it reads" if loop.carries else ""
    return f"stable times {low}{high}{at}{doubt}{on}"


def render_phase(edge: MarginEdge) -> str:
    """Renders `64.12 deg at 0.3011 rad/s (period 20.87 s)`."""
    if edge.at is None:
        return f"any, up to {edge.proved:.4g} deg"
    doubt = "" if edge.certified else f" (an estimate; proved up to {edge.proved:.4g} deg)"
    return f"{edge.at:.5g} deg{render_at(edge.frequency)}{doubt}"


def render_delay(delay: DelayMargin) -> str:
    """Renders the extra delay that loses stability."""
    if delay.unstable is not None and not delay.stable:
        return f"unstable with any ({render_seconds(float(f'{float(delay.unstable):.2g}'))} the least tried)"
    if delay.unstable is not None:
        return f"unstable beyond {render_seconds(float(f'{float(delay.unstable):.5g}'))}"
    reached = f"none found up to {render_seconds(delay.stable)}" if delay.stable else "not known"
    return f"{reached}: {delay.note}" if delay.note else reached


def render_disk(disk: Disk) -> str:
    """Renders `0.94: times 0.36 to 2.78, or 50.4 deg, both within one disk`."""
    high = f"{disk.high:.4g}" if math.isfinite(disk.high) else "any"
    return f"{disk.size:.4g}: times {disk.low:.4g} to {high} or {disk.phase:.4g} deg, within one disk"


def _peak(peak: CirclePeak) -> str:
    doubt = "" if peak.certified else f", not above {peak.bound:.4g}"
    return f"{peak.value:.4g}{render_at(peak.frequency)}{doubt}"


def render_at(frequency: float | None) -> str:
    """Renders ` at 0.3 rad/s (period 20.9 s)`; nothing at rest, nor for a period that nobody lives to see."""
    if not frequency or not math.isfinite(frequency) or math.tau / frequency > LONGEST:
        return ""
    return f" at {frequency:.4g} rad/s (period {render_seconds(float(f'{math.tau / frequency:.4g}'))})"


def margins_json(margins: SampledMargins | None) -> dict[str, Any]:
    """Returns the margins with their units in the keys, each with what was proved."""
    if margins is None:
        return {"gain": None, "phase": None, "Ms": None, "Mt": None, "disk": None}
    return {
        "gain": {"low": edge_json(margins.low), "high": edge_json(margins.high)},
        "phase": {**edge_json(margins.phase), "unit": "degrees"},
        "Ms": _peak_json(margins.sensitivity),
        "Mt": _peak_json(margins.complementary),
        "disk": disk_json(margins.disk),
    }


def edge_json(edge: MarginEdge) -> dict[str, Any]:
    """Returns an edge with its bracket."""
    return {
        "at": edge.at, "proved": edge.proved, "beyond": edge.beyond, "frequency_rad_per_s": edge.frequency,
        "certified": edge.certified,
    }  # fmt: skip


def delay_json(delay: DelayMargin | None) -> dict[str, Any] | None:
    """Returns a delay margin with its bracket."""
    if delay is None:
        return None
    unstable = None if delay.unstable is None else float(delay.unstable)
    return {"stable_seconds": float(delay.stable), "unstable_seconds": unstable, "note": delay.note}


def disk_json(disk: Disk) -> dict[str, Any]:
    """Returns a disk margin; `factor_high` None: any."""
    high = disk.high if math.isfinite(disk.high) else None
    at = disk.at if math.isfinite(disk.at) else None
    return {
        "size": disk.size, "factor_low": disk.low, "factor_high": high, "phase_degrees": disk.phase,
        "frequency_rad_per_s": at,
    }  # fmt: skip


def _peak_json(peak: CirclePeak) -> dict[str, Any]:
    return {
        "value": peak.value, "bound": peak.bound, "frequency_rad_per_s": peak.frequency, "certified": peak.certified,
    }  # fmt: skip
