"""Draws characteristic roots: all of them to a chosen decay, and how they move with the gain of one loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.loops.analysis.network_analysis import scaled
from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.margins.sampled_margins import closed_lap
from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.network import Network
from coherence.loops.networks.rightmost import generator_roots, polished
from coherence.loops.networks.winding import count_right_of
from coherence.reporting.pictures.figure import Dots, Line, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEEPER = 4.0  # times the decay of the rightmost root that roots are drawn to
BESIDE = 1e-6  # relative: how far beyond the line roots are counted, so that none stands on it
MOST_ROOTS = 400
FACTORS = np.geomspace(0.05, 5.0, 90)  # of a gain, of which roots are followed
PLANE = ("real part, 1/s", "imaginary part, rad/s")


@dataclass(frozen=True)
class RootsToDecay:
    """The roots right of -decay (1/s), Im >= 0; `complete`: a count proves that these are all."""

    decay: float
    roots: tuple[complex, ...]
    complete: bool


def roots_to_decay(net: Network, decay: float | None = None) -> RootsToDecay:
    """Returns the roots of a network right of -decay (default: four times the decay of the rightmost one)."""
    roots, counted, complete = [], 0, True
    parts = [Characteristic(part) for part in net.components()]
    known = [_candidates(char) for char in parts]
    every = np.concatenate(known) if known else np.zeros(0, dtype=complex)
    to = decay if decay is not None else _depth(every)
    for char, candidates in zip(parts, known, strict=True):
        inside = candidates[candidates.real > -to * (1 + BESIDE)]
        roots += [complex(root) for root in inside[:MOST_ROOTS]]
        count = count_right_of(char, -to * (1 + BESIDE))
        counted = int(sum(1 if root.imag == 0 else 2 for root in inside))
        complete = complete and count.roots == counted
    return RootsToDecay(to, tuple(sorted(roots, key=lambda z: (-z.real, z.imag))), complete)


def _candidates(char: Characteristic) -> NDArray[Any]:
    if not len(char.network.couplings):
        poles = char.poles[0]
        return np.asarray(poles[poles.imag >= 0])
    starts = generator_roots(char, level=0.02)
    return polished(char, starts) if starts is not None and len(starts) else np.zeros(0, dtype=complex)


def _depth(roots: NDArray[Any]) -> float:
    """Returns the decay to which roots are drawn where nobody says one."""
    if not len(roots):
        return 1.0
    rightmost = complex(roots[np.argmax(roots.real)])
    return DEEPER * (abs(rightmost.real) or abs(rightmost) / 10 or 0.25)


def roots_panel(net: Network, decay: float | None) -> Panel | None:
    """Returns the roots of a network in the plane; None where none is known."""
    known = roots_to_decay(net, decay)
    if not known.roots:
        return None
    marks = tuple((z.real, s * z.imag) for z in known.roots for s in ((1, -1) if z.imag else (1,)))
    unstable = tuple(place for place in marks if place[0] > 0)
    others = tuple(place for place in marks if place[0] <= 0)
    dots = [Dots("unstable root", unstable, "x", 1)] if unstable else []
    dots += [Dots("root", others, "o", 0)] if others else []
    whole = "all roots" if known.complete else "roots (not proved all)"
    return Panel(f"{whole} to a decay of {known.decay:.3g}/s", *PLANE, _edges(known, marks), tuple(dots), shade="right")


def _edges(known: RootsToDecay, marks: Sequence[tuple[float, float]]) -> tuple[Line, ...]:
    """Returns the real axis to where the shade begins, and the line of the decay."""
    height = 1.2 * max(abs(y) for _, y in marks) or known.decay
    axis = Line("", ((-known.decay, 0.0), (known.decay / 10, 0.0)), 5)
    return axis, Line("decay", ((-known.decay, -height), (-known.decay, height)), 2)


def multipliers_panel(title: str, groups: Sequence[tuple[str, str, Sequence[complex]]]) -> Panel:
    """Returns multipliers beside the unit circle: (name, verdict, multipliers) of each set."""
    dots = [
        Dots(
            name,
            tuple((z.real, z.imag) for z in map(complex, marks)),
            ("xd^s" if verdict == "unstable" else "ovs^")[style % 4],
            style,
        )
        for style, (name, verdict, marks) in enumerate(groups)
    ]
    return Panel(title, "real part (per lap)", "imaginary part (per lap)", (), tuple(dots),
                 square=True, circle=1.0, shade="outside")  # fmt: skip


def locus_panels(loops: Sequence[OpenLoop], decay: float | None) -> Iterator[Panel]:
    """Yields how the roots move with a factor on the gain of each loop."""
    for loop in loops:
        if loop.sampled is not None:
            yield _sampled_locus(loop)
        elif loop.continuous is not None and len(loop.continuous.blocks) <= 12:
            yield _continuous_locus(loop, loop.continuous, decay)


def _sampled_locus(loop: OpenLoop) -> Panel:
    assert loop.sampled is not None
    lap = loop.sampled

    def roots(factor: float) -> list[complex]:
        return [complex(z) for z in np.linalg.eigvals(closed_lap(lap, factor).a) if abs(z) <= 2]

    track = tuple((z.real, z.imag) for factor in FACTORS for z in roots(float(factor)))
    return Panel(f"root locus: {_gains(loop)}", "real part (per lap)", "imaginary part (per lap)", (),
                 (Dots("gain times 0.05 to 5", track, ".", 0), _present(roots(1.0))), square=True, circle=1.0,
                 shade="outside")  # fmt: skip


def _continuous_locus(loop: OpenLoop, net: Network, decay: float | None) -> Panel:
    to = roots_to_decay(net, decay).decay
    frequency = 3 * max([abs(z.imag) for z in roots_to_decay(net, to).roots] or [1.0]) + to

    def roots(factor: float) -> list[complex]:
        known = _candidates(Characteristic(scaled(net, (loop.block,), factor)))
        return [complex(z) for z in known if z.real > -to and z.imag <= frequency]

    def mirrored(of: list[complex]) -> list[complex]:
        return [*of, *(z.conjugate() for z in of if z.imag)]

    track = tuple((z.real, z.imag) for factor in FACTORS for z in mirrored(roots(float(factor))))
    return Panel(f"root locus: {_gains(loop)}", *PLANE, (),
                 (Dots("gain times 0.05 to 5", track, ".", 0), _present(mirrored(roots(1.0)))),
                 shade="right")  # fmt: skip


def _gains(loop: OpenLoop) -> str:
    return f"gain of {loop.name}"


def _present(roots: Sequence[complex]) -> Dots:
    return Dots("as it is", tuple((z.real, z.imag) for z in roots), "o", 1)
