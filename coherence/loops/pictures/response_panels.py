"""Draws Bode and Nyquist panels of opened loops, each curve within the band that it cannot leave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from coherence.loops.pictures.enclosed_curves import EnclosedCurve
from coherence.reporting.pictures.figure import CurveBand, Discs, Dots, Line, Panel

FARTHEST = 3.0  # of |L| in a Nyquist panel
LEAST, HIGHEST = 1e-2, 1e2  # of |L| in a Bode panel
UNPROVED = " (band with gaps)"
OMEGA = "frequency, rad/s"


def bode_panels(curves: Sequence[EnclosedCurve]) -> Iterator[Panel]:
    """Yields gain and phase of L."""
    gains = [Line(c.name, _clipped(c), style) for style, c in enumerate(curves)]
    bands = [CurveBand(rows, style) for style, c in enumerate(curves) for rows in (_gain_band(c),) if rows]
    open_ended = "" if all(c.certified for c in curves) else UNPROVED
    yield Panel(f"Bode: gain of L{open_ended}", OMEGA, "gain (ratio)", tuple(gains), log="xy", levels=(1.0,),
                bands=tuple(bands))  # fmt: skip
    phases = [_phase(c) for c in curves]
    lines = [
        Line(c.name, tuple(_drawn(c, phase)), style)
        for style, (c, phase) in enumerate(zip(curves, phases, strict=True))
    ]
    phase_bands = [
        CurveBand(_phase_band(c, phase), style) for style, (c, phase) in enumerate(zip(curves, phases, strict=True))
    ]
    yield Panel(f"Bode: phase of L{open_ended}", OMEGA, "phase, degrees", tuple(lines), log="x", levels=(-180.0,),
                bands=tuple(band for band in phase_bands if band.points))  # fmt: skip


def _shown(curve: EnclosedCurve) -> np.ndarray:
    """Returns where |L| is in the range of the panels."""
    size = np.abs(curve.value)
    return (size >= LEAST) & (size <= HIGHEST)


def is_shown(curve: EnclosedCurve) -> bool:
    """Decides whether a Bode panel has anything of a curve."""
    return bool(_shown(curve).any())


def _clipped(curve: EnclosedCurve) -> tuple[tuple[float, float], ...]:
    inside = _shown(curve)
    return tuple(zip(curve.omega[inside].tolist(), np.abs(curve.value[inside]).tolist(), strict=True))


def _gain_band(curve: EnclosedCurve) -> tuple[tuple[float, float, float], ...]:
    inside = _shown(curve) & np.isfinite(curve.radius)
    size, radius = np.abs(curve.value[inside]), curve.radius[inside]
    low = np.maximum(size - radius, LEAST)
    return tuple(zip(curve.omega[inside].tolist(), low.tolist(), (size + radius).tolist(), strict=True))


def _phase(curve: EnclosedCurve) -> np.ndarray:
    """Returns the phase in degrees, without jumps, that is near -90 degrees or above where the curve begins."""
    turned = np.degrees(np.unwrap(np.angle(curve.value)))
    return np.asarray(turned - 360 * math.ceil((turned[0] - 90) / 360))


def _drawn(curve: EnclosedCurve, phase: np.ndarray) -> Iterator[tuple[float, float]]:
    """Yields the phase where the gain is drawn and not below -1080 degrees, where a delay winds for ever."""
    for omega, angle, inside in zip(curve.omega, phase, _shown(curve), strict=True):
        if inside and angle > -1080:
            yield float(omega), float(angle)


def _phase_band(curve: EnclosedCurve, phase: np.ndarray) -> tuple[tuple[float, float, float], ...]:
    size = np.abs(curve.value)
    inside = _shown(curve) & (curve.radius < size) & (phase > -1080)
    with np.errstate(all="ignore"):
        half = np.degrees(np.arcsin(np.minimum(curve.radius / size, 1)))
    rows = zip(curve.omega[inside], (phase - half)[inside], (phase + half)[inside], strict=True)
    return tuple((float(a), float(b), float(c)) for a, b, c in rows)


def nyquist_panel(curves: Sequence[EnclosedCurve]) -> Panel:
    """Returns L in the plane beside -1, for frequencies above 0."""
    lines, discs = [], []
    for style, curve in enumerate(curves):
        near = np.abs(curve.value) <= FARTHEST
        parts = np.split(np.flatnonzero(near), np.flatnonzero(np.diff(np.flatnonzero(near)) > 1) + 1)
        for number, part in enumerate(part for part in parts if len(part)):
            places = tuple((float(z.real), float(z.imag)) for z in curve.value[part])
            lines.append(Line(curve.name if not number else "", places, style))
        rows = [
            (z.real, z.imag, r) for z, r in zip(curve.value[near], curve.radius[near], strict=True) if math.isfinite(r)
        ]
        discs.append(Discs(tuple((float(a), float(b), float(r)) for a, b, r in rows), style))
    open_ended = "" if all(c.certified for c in curves) else UNPROVED
    return Panel(f"Nyquist: L{open_ended}", "real part (ratio)", "imaginary part (ratio)", tuple(lines),
                 (Dots("-1", ((-1.0, 0.0),), "x", 5),), square=True, circle=1.0, discs=tuple(discs))  # fmt: skip
