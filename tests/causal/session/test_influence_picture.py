"""The picture of a fitted graph: no words on others, delays and units at the arrows, hidden causes drawn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.session.influence_picture import LETTER, TALL, graph
from coherence.reporting.pictures.figure import Panel
from tests.causal.systems import late, table, wandering


def made(seed: int, nodes: int) -> tuple[Series, CausalGraph]:
    """Returns telemetry of a random graph without circles, each node with up to two causes."""
    rng = np.random.default_rng(seed)
    names = [f"part{number}.level" for number in range(nodes)]
    levels, influences = {}, []
    for place, name in enumerate(names):
        levels[name] = wandering(rng, 600, 0.5)
        for cause in rng.choice(place, min(place, 2), replace=False).tolist() if place else ():
            levels[name] = levels[name] + 0.7 * levels[names[cause]]
            influences.append(Influence(names[cause], name))
    return table(**levels), CausalGraph(tuple(names), tuple(influences))


def covered(panel: Panel, nodes: list[tuple[float, float]]) -> float:
    """Returns the largest part of a text's area that another text covers, at the size of a large panel."""
    xs = [x for x, _ in nodes]
    ys = [y for _, y in nodes]
    across, down = 700.0 / (max(xs) - min(xs) + 0.9), 330.0 / (max(ys) - min(ys) + 1.0)
    boxes = [(x * across - LETTER * len(words) / 2, y * down, LETTER * len(words)) for x, y, _, words in panel.texts]
    part = 0.0
    for (a, y, wide), (b, z, broad) in itertools.combinations(boxes, 2):
        width, height = min(a + wide, b + broad) - max(a, b), TALL - abs(y - z)
        part = max(part, max(0.0, width) * max(0.0, height) / (TALL * min(wide, broad)))
    return part


@pytest.mark.parametrize("seed", range(6))
def test_words_do_not_cover_each_other(seed: int) -> None:
    series, ways = made(seed, 9)
    panel = graph(fit(series, ways), None, {})
    assert len(panel.arrows) == len({(one.cause, one.effect) for one in ways.influences})
    assert sum(words.startswith("part") for *_, words in panel.texts) == 9
    assert len(panel.texts) == 9 + len(panel.arrows)  # a name for each node, a strength for each arrow
    assert covered(panel, list(panel.dots[0].points)) < 0.35


def test_arrows_have_the_unit_and_the_delay() -> None:
    rng = np.random.default_rng(1)
    a = wandering(rng, 2000, 0.5)
    b = 2 * np.roll(a, 3) + wandering(rng, 2000, 0.5)
    found = fit(table(a=a, b=b), CausalGraph(("a", "b"), (late("a", "b", 3),)))
    (words,) = [words for *_, words in graph(found, None, {("a", "b"): True}, {"a": "req/s", "b": "s"}).texts
                if "later" in words]  # fmt: skip
    assert words.endswith(" s/(req/s), 3 s later")
    assert float(words.split()[0]) == pytest.approx(2, abs=0.2)


def test_there_and_back_are_two_arrows_apart() -> None:
    rng = np.random.default_rng(1)
    a, b = np.zeros(2000), np.zeros(2000)
    for step in range(1, 2000):
        a[step] = 0.4 * b[step - 1] + rng.normal()
        b[step] = 0.4 * a[step - 1] + rng.normal()
    found = fit(table(a=a, b=b), CausalGraph(("a", "b"), (late("a", "b"), late("b", "a"))))
    first, second = graph(found, None, {}).arrows
    assert first.start[1] != second.end[1]


def test_a_hidden_cause_is_drawn_dashed() -> None:
    rng = np.random.default_rng(1)
    a = wandering(rng, 600, 0.5)
    ways = CausalGraph(("a", "b", "h"), (Influence("a", "b"), Influence("h", "b")))
    panel = graph(fit(table(a=a, b=a + wandering(rng, 600, 0.5)), ways), None, {("a", "b"): True})
    assert [dots.mark for dots in panel.dots] == ["o", "x"]
    assert "not measured" in panel.title
    assert sorted(arrow.style for arrow in panel.arrows) == [0, 1]
