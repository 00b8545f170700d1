"""Draws the resonance of power: how strongly each signal in watts swings in a run, by the period of the swing."""

from __future__ import annotations

import numpy as np

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import FigurePart, note, pictured, reproduced, rounded, table
from coherence.assessment.parts.runs import curves_of, sampled
from coherence.reporting.pictures.figure import Figure, Guide, Line, Panel
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.course import Array, CourseCurve

ORDER, TITLE = 69, "Energy resonance"
SAMPLES, MOST = 2048, 6


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the spectrum of each signal in watts beside the periods of the loops; why there is none otherwise."""
    runs = assessment.runs
    powers = [c for c in curves_of(runs.course, "signal") if c.unit == "W"]
    swinging = [c for c in powers if np.ptp(c.values[c.times >= runs.end / 2]) > 0][:MOST]
    if runs.refused or not swinging:
        still = (
            "no signal in watts moves in the second half of the run" if powers else "no signal of the run is in watts"
        )
        return (note(f"Not drawn: {runs.refused or still}."),)
    spectra = {curve.thing: _spectrum(curve, runs.end) for curve in swinging}
    lines = tuple(
        Line(name, tuple(zip(periods.tolist(), swings.tolist(), strict=True)), style)
        for style, (name, (periods, swings)) in enumerate(spectra.items())
    )
    guides = tuple(Guide("x", period, f"orbit {period:.4g} s") for period in _orbits(assessment))
    panel = Panel("swing of power by its period", "period, s", "amplitude, W", lines, log="x", low=0.0, guides=guides)
    rows = [_row(name, *spectrum) for name, spectrum in spectra.items()]
    return (
        pictured(FigurePart(Figure(f"Power of {assessment.system}", (panel,), 1), "energy-"),
                 "Amplitude of each part of the swing in the second half of one run."),
        table("Strongest swings", ("signal", "period", "amplitude", "share of the whole swing"), rows, numbers="1 2 3"),
        reproduced("simulate", assessment.path, *runs.command),
    )  # fmt: skip


def _spectrum(curve: CourseCurve, end: float) -> tuple[Array, Array]:
    """Returns periods (s) and amplitudes of the second half of a run, Hann's window corrected for its mean."""
    times = end / 2 + (np.arange(SAMPLES) + 0.5) * end / 2 / SAMPLES
    values = sampled(curve, times)
    window = np.hanning(SAMPLES)
    amplitudes = 2 * np.abs(np.fft.rfft((values - values.mean()) * window)) / window.sum()
    order = np.arange(1, SAMPLES // 8)
    return (end / 2 / order)[::-1], amplitudes[order][::-1]


def _orbits(assessment: Assessment) -> list[float]:
    """Returns the periods of the groups that swing, s."""
    analysis = assessment.loops.analysis
    groups = analysis.groups if analysis else ()
    return sorted({float(group.answer.period) for group in groups if group.answer.period})[:4]


def _row(name: str, periods: Array, swings: Array) -> tuple[str, ...]:
    at = int(swings.argmax())
    whole = float(np.sqrt((swings**2).sum()))
    share = f"{100 * float(np.sqrt((swings[max(0, at - 1) : at + 2] ** 2).sum())) / whole:.0f} %" if whole > 0 else ""
    return name, f"{periods[at]:.4g} s", f"{rounded(swings[at])} W", share
