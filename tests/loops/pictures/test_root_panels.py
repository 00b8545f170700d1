"""Roots to a decay, and how they move: closed forms by Lambert's W, counts, and the unit circle."""

from __future__ import annotations

import math

import pytest
from scipy.special import lambertw

from coherence.loops.interchange.open_loop import opened_at
from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.pictures.root_panels import locus_panels, multipliers_panel, roots_panel, roots_to_decay

HAYES = loop([1.0], [1.0, 0.0], delay=1.0)  # s + exp(-s) = 0: s = W_k(-1)


def test_all_roots_to_a_decay_are_those_of_lambert() -> None:
    known = roots_to_decay(HAYES, 2.7)
    exact = [complex(lambertw(-1, k)) for k in (0, 1, 2)]
    assert known.complete
    assert list(known.roots) == pytest.approx([z for z in exact if z.real > -2.7], rel=1e-9)


def test_the_decay_is_chosen_where_nobody_says_one() -> None:
    known = roots_to_decay(HAYES)
    assert known.decay == pytest.approx(4 * 0.3181315, rel=1e-6)


def test_the_unstable_side_is_shaded_and_its_roots_are_crosses() -> None:
    panel = roots_panel(loop([2.0], [1.0, 0.0], delay=1.0), None)
    assert panel is not None
    assert panel.shade == "right"
    assert next((dots.name, dots.mark) for dots in panel.dots) == ("unstable root", "x")
    assert panel.title.startswith("all roots to a decay of")


@pytest.mark.slow
def test_a_locus_passes_through_the_axis_at_the_critical_gain() -> None:
    (panel,) = locus_panels([opened_at(HAYES, "loop")], None)
    track, present = panel.dots
    assert min(abs(complex(x, y) - 1j * math.pi / 2) for x, y in track.points) < 0.1
    assert min(abs(complex(x, y) - complex(lambertw(-1))) for x, y in present.points) < 1e-9


def test_a_sampled_locus_stands_in_the_unit_circle() -> None:
    net = network([Block("plant", (0.5,), (1.0, 0.0), 0.0, rate=1.0)], [Coupling("plant", "plant", -1)])
    (panel,) = locus_panels([opened_at(net, "plant")], None)
    assert panel.shade == "outside"
    assert list(panel.dots[1].points) == [pytest.approx((0.5, 0.0))]
    marked = multipliers_panel("roots", [("unstable", "unstable", [1.2 + 0j])])
    assert marked.dots[0].mark == "x"
