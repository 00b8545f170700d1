"""Bands of counts: inside them a condition stays as it is, and just outside it may turn."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import pytest

from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import evaluate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.views import View
from coherence.simulate.study.count_bands import MOST, Band, CountedSignal, CountScene, bands_of

SIGNALS = {
    "a.waiting": CountedSignal(("a.queue",), "a.queue"),
    "b.waiting": CountedSignal(("b.queue",), "b.queue"),
    "a.wait": CountedSignal(("a.queue", "a.servers"), "a.queue"),
}
NOW = {"a.queue": 3, "b.queue": 2, "a.servers": 4}


def scene(model: Model, counts: Mapping[str, int]) -> CountScene:
    run = Execution(model, Choices({"limit": Fraction(5)}))

    def view(other: Mapping[str, int]) -> View:
        a, b = Fraction(other["a.queue"]), Fraction(other["b.queue"])
        signals = {"a.waiting": a, "b.waiting": b, "a.wait": a / other["a.servers"]}
        return View(run, Fraction(0), {**signals, "limit": Fraction(5)})

    return CountScene(SIGNALS, counts, view, lambda _: False)


@pytest.mark.parametrize(
    ("condition", "bands"),
    [
        ("a.waiting <= limit", {"a.queue": (0, 5)}),
        ("a.waiting > limit", {"a.queue": (0, 5)}),
        ("limit < 2 * a.waiting", {"a.queue": (3, MOST)}),
        ("a.waiting == 3", {"a.queue": (3, 3)}),
        ("a.waiting + b.waiting <= 9", {"a.queue": (0, 5), "b.queue": (0, 4)}),
        ("a.waiting - b.waiting <= 2", {"a.queue": (0, 3), "b.queue": (2, MOST)}),
        ("a.waiting >= 1 and b.waiting < 3", {"a.queue": (1, MOST), "b.queue": (0, 2)}),
        ("a.wait <= 2", {"a.queue": (0, 8), "a.servers": (4, 4)}),
        ("a.waiting / b.waiting <= 2", {"a.queue": (0, 4), "b.queue": (2, 2)}),
        ("a.waiting * b.waiting <= 9", {"a.queue": (0, 4), "b.queue": (2, 2)}),
        ("(a.waiting if limit > 1 else 2) <= 4", {"a.queue": (3, 3)}),
        ("min(a.waiting, 4) < 4", {"a.queue": (0, 3)}),
        ("a.waiting - a.waiting <= 1", {"a.queue": (3, 3)}),
    ],
)
def test_in_its_band_a_condition_stays_as_it_is(model: Model, condition: str, bands: dict[str, Band]) -> None:
    tree, here = parse(condition), scene(model, NOW)
    assert bands_of(tree, here) == bands
    within = [range(low, min(high, 12) + 1) for low, high in bands.values()]
    for counts in itertools.product(*within):
        moved = {**NOW, **dict(zip(bands, counts, strict=True))}
        assert evaluate(tree, here.view(moved)) == evaluate(tree, here.view(NOW))


@pytest.fixture
def model() -> Model:
    from coherence.language.reading import read_text
    from coherence.model.elaborate import elaborate

    return elaborate(read_text('coherence: 1\ncomponents: {box: {state: "t\' = 1", from: 0}}\n'))
