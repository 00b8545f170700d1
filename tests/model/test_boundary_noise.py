"""Noise of boundaries beside laws whose extremes are a formula."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from coherence.findings.finding import Verdict
from coherence.language.expressions.evaluate import evaluate
from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from tests.case_files import findings_of
from tests.model.test_boundaries import findings


def design(noise: str, *, most: str = "53", inside: str = "none", also: str = "", signal: str = "pool.util") -> str:
    return f"""coherence: 1
infrastructure: {{boundaries: {{vm: {{around: [pool], noise: {noise}{also}}}}}}}
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    inside: {inside}
    target: {{signal: {signal}, setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: pool.desired, from: 40, bounds: [1, 400.5]}}
promises: {{small: always pool.desired <= {most}}}
"""


def noises(text: str) -> dict[str, tuple[Fraction | None, Fraction | None, bool]]:
    constants = model_of(read_text(text, "d")).constants
    return {path: (c.range.low, c.range.high, c.varies) for path, c in constants.items() if ".noise." in path}


def test_a_reading_across_it_has_a_noise_of_its_own() -> None:
    part = Fraction(12, 100)
    assert noises(design("-12 % .. 12 %")) == {"vm.noise.hpa.pool.util": (-part, part, True)}
    assert noises(design("-12 % .. 12 %", inside="vm")) == {}
    both = design("-12 % .. 12 %", signal="pool.util + 0 * pool.load")
    assert sorted(noises(both)) == ["vm.noise.hpa.pool.load", "vm.noise.hpa.pool.util"]


@pytest.mark.parametrize("noise", ["-12 ms .. 12 ms", "12 %", "1 % .. 12 %", "0 %"])
def test_what_is_no_range_around_zero_or_of_another_unit_is_none(noise: str) -> None:
    assert noises(design(noise)) == {}


def averaged(noise: str, most: str, also: str = "") -> str:
    """Returns a loop that halves what it sees of its own command, and adds 10."""
    return f"""coherence: 1
infrastructure: {{boundaries: {{vm: {{around: [pool], noise: {noise}{also}}}}}}}
components: {{pool: {{desired: 0 .. 400}}}}
loops:
  half:
    inside: none
    trigger: always
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: pool.desired, law: set, to: "0.5 * pool.desired + 10", from: 20, bounds: [0, 400]}}
promises: {{small: always pool.desired <= {most}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "most", "verdict"),
    [
        ("-1 .. 1", "21", "proved"),  # n = 10 + (n + 1) / 2
        ("-1 .. 1", "20.9", "conflict"),
        ("-2 .. 0", "20", "proved"),
        ("-1 .. 3", "23", "proved"),
        ("-1 .. 3", "22.9", "conflict"),
    ],
)
def test_a_promise_holds_up_to_the_largest_value_that_noise_can_make(noise: str, most: str, verdict: str) -> None:
    assert promised(averaged(noise, most)) == verdict


def promised(text: str) -> str:
    return next(str(finding.verdict) for finding in findings_of(text, repairs=False, select=("COH220",)))


@pytest.mark.slow
def test_noise_is_added_after_the_gain() -> None:
    """n = 10 + (0.5 n + 1) / 2 is 14, and it begins at 20; n = 10 + (1.01 n + 1) / 2 is 21.21."""
    text = averaged("-1 .. 1", "20", ", reading_gain: 50 %")
    assert promised(text) == "proved"
    assert promised(averaged("-1 .. 1", "21.3", ", reading_gain: 101 %")) == "proved"  # 10.5 / 0.495 = 21.21
    assert promised(averaged("-1 .. 1", "21.1", ", reading_gain: 101 %")) == "conflict"


@pytest.mark.slow
def test_a_loop_inside_reads_without_noise() -> None:
    assert promised(averaged("-1 .. 1", "20").replace("inside: none", "inside: vm")) == "proved"


@pytest.mark.slow
def test_noise_leaves_open_what_settles() -> None:
    assert findings(design("-12 % .. 12 %"))["COH301"].verdict is Verdict.UNDECIDED


NESTED = """coherence: 1
infrastructure:
  boundaries:
    site: {around: [SITE], reading_gain: 150 %}
    vm: {around: [pool], noise: -1 .. 1}
components: {pool: {desired: 0 .. 400}}
loops:
  third:
    inside: INSIDE
    trigger: always
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, law: set, to: "pool.desired / 3 + 20", from: 40, bounds: [0, 400]}
promises: {small: always pool.desired <= MOST}
"""


def nested(most: str, *, site: str = "vm", inside: str = "none") -> str:
    return NESTED.replace("SITE", site).replace("INSIDE", inside).replace("MOST", most)


def seen(text: str, **values: str) -> Fraction:
    """Returns what the law of the loop makes of the values of its names."""
    tree = model_of(read_text(text, "d")).loops[0].to
    assert tree is not None
    given = {path.replace("__", "."): Fraction(value) for path, value in values.items()}
    return Fraction(evaluate(tree, SimpleNamespace(value=given.__getitem__)))


def test_what_one_boundary_adds_the_next_one_on_the_way_multiplies() -> None:
    out = {"pool__desired": "40", "vm__noise__third__pool__desired": "1"}
    assert seen(nested("41"), **out) == (40 + 1) * Fraction(3, 2) / 3 + 20
    inward = (
        nested("41", site="vm, other", inside="vm").replace("[pool]", "[other]").replace("{pool", "{other: {}, pool")
    )
    assert seen(inward, **out) == (Fraction(3, 2) * 40 + 1) / 3 + 20  # the outer one comes first on the way in


def test_noise_beside_a_gain_in_no_order_is_not_read() -> None:
    assert noises(nested("41", site="pool")) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("most", "site", "verdict"),
    [("40.8", "vm", "conflict"), ("41", "vm", "proved"), ("41", "pool", "undecided")],
)
def test_a_promise_counts_the_noise_as_often_as_outer_boundaries_multiply_it(
    most: str, site: str, verdict: str
) -> None:
    """n = (1.5 n + 1.5) / 3 + 20 comes to 41; n = 40 begins there."""
    assert promised(nested(most, site=site)) == verdict


TWO = """coherence: 1
infrastructure: {boundaries: {vm: {around: [pool], noise: -1 .. 1}}}
components: {pool: {x: 5}, a: {v: 0 .. 10}, b: {v: 0 .. 10}}
loops:
  la:
    inside: none
    trigger: always
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: a.v, law: set, to: pool.x, from: 5, bounds: [0, 10]}
  lb:
    inside: none
    trigger: always
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: b.v, law: set, to: pool.x, from: 5, bounds: [0, 10]}
promises: {apart: always a.v - b.v <= MOST}
"""


def test_loops_and_readings_of_other_ages_have_noises_of_their_own() -> None:
    two = TWO.replace("MOST", "2")
    assert sorted(noises(two)) == ["vm.noise.la.pool.x", "vm.noise.lb.pool.x"]
    old = two.replace("to: pool.x", 'to: "pool.x - delayed(pool.x, 15 s)"', 1)
    assert sorted(noises(old)) == ["vm.noise.la.pool.x", "vm.noise.la.pool.x.15_s_ago", "vm.noise.lb.pool.x"]


@pytest.mark.slow
@pytest.mark.parametrize(("most", "verdict"), [("1.9", "conflict"), ("2", "proved")])
def test_two_loops_may_see_opposite_noises(most: str, verdict: str) -> None:
    assert promised(TWO.replace("MOST", most)) == verdict
