"""Verdicts where sides of kinks meet, beside rays and runs that are known, and an own integrator."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import binom

from coherence.language.reading import read_text
from coherence.loops.designs.bent_verdicts import BentVerdict, bent_verdict
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from tests import draws
from tests.loops.designs.bent_designs import BentDesign, comes_to, drawn

TEXT = """
coherence: 1
components:
  tank: {{state: "level' = {flow} / 10 s", from: 0}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: [-100, 100], from: 0}}
"""


def judged(text: str) -> BentVerdict:
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    return bent_verdict(model, {path: Fraction(0) for path in (*model.states, *model.commands)})


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        ("max(1 * tank.level, 3 * tank.level)", "stable"),  # 0.8 and 0.4 a lap: numbers between 0 and 1
        ("max(1 * tank.level, 11 * tank.level)", "stable"),  # -1.2 a lap above, 0.8 below, where it stays
        ("11 * tank.level + 0.5 * abs(tank.level)", "unstable"),  # -1.3 above and -1.1 below, in turn
        ("10 * tank.level + 0.5 * abs(tank.level)", "stable"),  # -1.1 and -0.9, in turn: 0.99
        ("max(1 * tank.level, 0 * tank.level)", "undecided"),  # 0.8 above, and below it stays where it is
        ("max(1 * delayed(tank.level, 2 s), 2 * delayed(tank.level, 2 s))", "stable"),  # real and complex pairs
        ("max(1 * delayed(tank.level, 4 s), 1 * tank.level)", "stable"),  # of unlike pasts
        ("delayed(max(1 * tank.level, 3 * tank.level), 2 s)", "stable"),  # read late
        ("max(0.5 * delayed(tank.level, 6 s), 2.2 * delayed(tank.level, 6 s))", "stable"),  # 2.2 alone: 1.0255
        ("max(0.5 * delayed(tank.level, 6 s), 3 * delayed(tank.level, 6 s))", "undecided"),  # of each piece in a row
        ("tank.level if tank.level > 0 else 3 * tank.level", "stable"),
        ("tank.level if tank.level > 0 else 3 * valve.open", "undecided"),  # its sides meet at the point alone
        ("abs(tank.level)", "unstable"),  # 1.2 a lap below
    ],
)
def test_a_law_that_bends_is_stable_however_its_branches_alternate_or_not(law: str, verdict: str) -> None:
    assert judged(TEXT.format(law=law, flow="(-valve.open)")).verdict == verdict


@pytest.mark.parametrize(
    ("flow", "verdict"),
    [
        ("(-max(valve.open, 2 * valve.open))", "stable"),
        ("(-max(valve.open, delayed(valve.open, 3 s)))", "stable"),
        ("(-10 * max(valve.open, 2 * valve.open))", "unstable"),  # -3 above, -1 below
        ("(-6 * max(valve.open, 2 * valve.open))", "stable"),  # -1.4 above, -0.2 below
        ("(-max(valve.open + 0.1 * tank.level, 2 * valve.open))", "undecided"),  # it bends between samples
    ],
)
def test_a_flow_that_bends_takes_the_side_of_its_instant(flow: str, verdict: str) -> None:
    assert judged(TEXT.format(law="1 * tank.level", flow=flow)).verdict == verdict


RING = """
coherence: 1
components:
  a: {{state: "x' = {a} / 1 s", from: 0}}
  b: {{state: "x' = {b} / 1 s", from: 0}}
"""


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("(-max(delayed(a.x, 1 s), 0.5 * delayed(a.x, 1 s)))", "(-b.x)", "stable"),  # both below pi / 2
        ("(-max(1.7 * delayed(a.x, 1 s), 2 * delayed(a.x, 1 s)))", "(-b.x)", "unstable"),  # both above
        ("abs(a.x)", "(-b.x)", "unstable"),  # exp(t) above
        ("(-0.2 * a.x + max(0.1 * b.x, 0.3 * b.x))", "(-0.2 * b.x - a.x)", "stable"),  # a spiral of two halves
        ("(0.1 * a.x + max(b.x, 2 * b.x))", "(0.1 * b.x - a.x)", "unstable"),
        ("(-a.x + max(b.x, 2 * b.x))", "max(0.9 * a.x, 0.3 * a.x) - b.x", "unstable"),  # (1 + r)^2 = 1.8
        ("(-a.x + max(b.x, 2 * b.x))", "max(0.4 * a.x, 0.3 * a.x) - b.x", "stable"),  # (1 + r)^2 = 0.8
    ],
)
def test_flows_with_delays_that_bend(a: str, b: str, verdict: str) -> None:
    assert judged(RING.format(a=a, b=b)).verdict == verdict


def test_what_decays_alone_decays_under_what_decays() -> None:
    """A stable loop above one that bends does not make its branches harder to tell: each is judged by itself."""
    above = """
  first: {state: "x' = (-0.1 * first.x) / 1 s", from: 0}
loops:"""
    text = TEXT.format(law="max(tank.level + first.x, 3 * tank.level - first.x)", flow="(-valve.open)")
    assert judged(text.replace("\nloops:", above)).verdict == "stable"


def comparison(design: BentDesign) -> str:
    """Returns right, wrong, undecided, or near the edge."""
    verdict = judged(design.text).verdict
    if verdict not in ("stable", "unstable"):
        return "undecided"
    truth = next((end for seconds in (300, 1500, 6000) if (end := comes_to(design, seconds)) != "unclear"), "unclear")
    if truth == "unclear":
        return "near the edge"
    return "right" if (truth == "grows") is (verdict == "unstable") else "wrong"


def counted(seeds: range) -> Counter[str]:
    answers = {seed: comparison(drawn(seed)) for seed in seeds}
    assert not [seed for seed, answer in answers.items() if answer == "wrong"]
    return Counter(answers.values())


@pytest.mark.slow
def test_no_verdict_on_a_design_that_bends_is_wrong() -> None:
    assert counted(range(20))["right"] >= 16


@pytest.mark.slow
def test_few_designs_that_bend_are_undecided() -> None:
    """At most 3 of 100: exactly of all designs, of a drawn part as far as chance lets one say so."""
    seeds = draws.drawn(range(1_000), parts=10)
    answers = counted(seeds)
    most = 30 if len(seeds) == 1_000 else binom.ppf(0.999, len(seeds), 0.03)
    assert answers["undecided"] <= most, answers
    assert answers["right"] >= 0.9 * len(seeds), answers
