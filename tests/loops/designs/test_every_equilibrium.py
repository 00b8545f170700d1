"""All equilibria of piecewise laws, counted by hand."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.model.elaborate import elaborate


@pytest.mark.parametrize(
    ("flow", "points"),
    [
        ("(max(a.x, 3) - 2 * a.x + 1)", [2]),  # a.x = 2 takes the 3; a.x = 1 would take a.x and is none
        ("(max(2 * a.x - 6, 0) - a.x + 2)", [2, 4]),
        ("(max(3 * a.x - 20, min(a.x, 5)) - 0.5 * a.x - 1)", [2, 8, 8.4]),
        ("(a.x - 1) * (a.x - 4)", [1, 4]),
        ("(1 + a.x * a.x)", []),
    ],
)
def test_every_piece_gives_its_equilibrium_where_it_holds(flow: str, points: list[float]) -> None:
    text = f'coherence: 1\ncomponents: {{a: {{state: "x\' = {flow} / 1 s", from: 0}}}}\n'
    model = elaborate(read_text(text, "design.yaml"))
    assert sorted(float(point["a.x"]) for point in equilibria(model)) == pytest.approx(points)
