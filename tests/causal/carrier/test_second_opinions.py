"""statsmodels and pgmpy say what the fit says where both may, and differ where a strength is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coherence.causal.carrier.second_opinions import Estimated, InfluenceOpinion, second_opinions
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.cli._run import run

pytest.importorskip("pgmpy")
GRAPH = CausalGraph(("a", "b", "c"), (Influence("a", "c"), Influence("b", "c")))
DESIGN = """coherence: 1
components:
  a: {load: -10 .. 10}
  b: {load: -10 .. 10}
  c: {wait: a.load * one + b.load * two, one: 0 .. 5, two: 0 .. 5}
"""


def record(size: int = 3000, memory: float = 0.0, seed: int = 1) -> Series:
    """c = 2 a + 0 b + own, whose own part remembers."""
    random = np.random.default_rng(seed)
    a, b, shock = random.normal(size=(3, size))
    own = np.zeros(size)
    for number in range(size):
        own[number] = memory * own[number - 1] + shock[number]
    return Series(("a", "b", "c"), np.column_stack([a, b, 2 * a + own]), 1.0)


def by_cause(fitted: Fitted, series: Series) -> dict[str, InfluenceOpinion]:
    return {opinion.cause: opinion for opinion in second_opinions(fitted, series)}


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_the_strengths_agree_and_what_is_there_is_dependent(memory: float) -> None:
    series = record(memory=memory)
    opinions = by_cause(fit(series, GRAPH), series)
    assert set(opinions) == {"a", "b"}
    for cause, strength in (("a", 2.0), ("b", 0.0)):
        opinion = opinions[cause]
        assert not opinion.differs
        assert opinion.theirs.value == pytest.approx(strength, abs=0.1)
        assert opinion.theirs.low < opinion.theirs.value < opinion.theirs.high
    assert opinions["a"].p < 1e-9
    assert "agreement: we say" in opinions["a"].render()


def test_plain_least_squares_are_the_same_number() -> None:
    series = record()
    plain = fit(series, GRAPH, [Equation("c", (("a", 0), ("b", 0)))])
    for opinion in by_cause(plain, series).values():
        assert opinion.ours.value == pytest.approx(opinion.theirs.value, rel=1e-9)
        assert opinion.method.startswith("least squares")


def test_instruments_are_those_of_two_stage_least_squares() -> None:
    random = np.random.default_rng(3)
    z, hidden, x, y = random.normal(size=(4, 5000))
    a = z + hidden + x
    series = Series(("z", "a", "c"), np.column_stack([z, a, 2 * a - 3 * hidden + y]), 1.0)
    equation = Equation("c", (("a", 0),), instruments=(("z", 0),))
    graph = CausalGraph(("z", "a", "c"), (Influence("z", "a"), Influence("a", "c")))
    opinion = by_cause(fit(series, graph, [equation]), series)["a"]
    assert opinion.method == "two-stage least squares"
    assert opinion.ours.value == pytest.approx(opinion.theirs.value, rel=1e-6)
    assert opinion.theirs.value == pytest.approx(2.0, abs=0.2)


def test_a_strength_that_is_wrong_is_a_disagreement() -> None:
    series = record()
    fitted = fit(series, GRAPH)
    node = fitted.nodes["c"]
    wrong: Floats = node.coefficients + 1.0
    moved = replace(node, coefficients=wrong, low=node.low + 1, high=node.high + 1)
    for opinion in by_cause(replace(fitted, nodes={"c": moved}), series).values():
        assert opinion.differs
        assert "DISAGREEMENT" in opinion.render()


def test_intervals_that_touch_do_not_differ() -> None:
    ours, theirs = Estimated(1.0, 1.0, 1.0), Estimated(1.0 + 1e-12, 1.0 + 1e-12, 1.0 + 1e-12)
    opinion = InfluenceOpinion("a", "b", 0.0, ours, theirs, "m", 0.5, seen=True)
    assert not opinion.differs
    assert "independent, p = 0.5 (an approximation, which differs)" in opinion.render()
    assert replace(opinion, theirs=Estimated(2.0, 1.5, 2.5)).differs


def test_the_command_prints_them_and_a_stream_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.yaml").write_text(DESIGN, encoding="utf-8")
    series = record(800)
    rows = "".join(f"{n},{a},{b},{c}\n" for n, (a, b, c) in enumerate(series.values))
    (tmp_path / "t.csv").write_text("time,a.load,b.load,c.wait\n" + rows, encoding="utf-8")
    words = ["fit", str(tmp_path / "d.yaml"), "--telemetry", str(tmp_path / "t.csv"), "--second-opinion"]
    code = run(words)
    printed = capsys.readouterr()
    assert printed.out.count("second opinion ") == 2, printed.err
    assert "second opinion a.load -> c.wait: agreement" in printed.out
    assert run([*words, "-o", "json"]) == code
    rows_of = json.loads(capsys.readouterr().out)["second_opinion"]
    assert {row["cause"]: round(row["theirs"]["value"]) for row in rows_of} == {"a.load": 2, "b.load": 0}
    assert run([*words, "--stream"]) == 2
    assert "leave --stream out" in capsys.readouterr().err
