"""Questions about sampled networks: closed forms, and verdicts on both sides of every edge."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.loops.analysis.network_answers import Answer, NetworkQuestion
from coherence.loops.analysis.network_questions import answered
from coherence.loops.analysis.sampled_questions import later_system, scaled_system
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked, multirate
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Block, Coupling, Network, network


def rated(gain: float, delay: float, period: float = 1.0) -> Network:
    """Returns an integrator with a delay behind a hold."""
    blocks = [Block("plant", (gain,), (1.0, 0.0), delay, rate=period)]
    return network(blocks, [Coupling("plant", "plant", -1)])


def two_rates() -> Multirate:
    """Returns two controllers of one tank, of 2 s and 3 s."""
    return checked(
        [Sampler("a", (-0.2,), period=2.0), Sampler("b", (-0.1,), period=3.0)],
        [Block("tank", (1.0,), (1.0, 0.0))],
        [Coupling("a", "tank"), Coupling("b", "tank"), Coupling("tank", "a"), Coupling("tank", "b")],
    )


def spans(answer: Answer) -> list[tuple[float, float, str]]:
    return [(row["from"], row["to"], row["verdict"]) for row in answer.numbers["windows"]]


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_windows_of_a_gain_are_exact_for_one_loop(steps: int) -> None:
    """2 sin(pi / (2 (2 d + 1))) of an integrator with d steps of delay (Levin and May 1976)."""
    answer = answered(rated(0.1, steps), NetworkQuestion("gain windows", ("plant",)))
    edge = 10 * 2 * math.sin(math.pi / (2 * (2 * steps + 1)))
    assert spans(answer) == [(0.0, pytest.approx(edge, rel=1e-9), "stable"), (pytest.approx(edge), 100.0, "unstable")]
    assert not answer.open


def test_windows_of_a_delay_end_where_the_verdict_changes_and_say_how_they_were_found() -> None:
    answer = answered(rated(0.5, 0.0), NetworkQuestion("delay windows", ("plant",)))
    (low, high, verdict), *_ = spans(answer)
    assert (low, verdict) == (0.0, "stable")
    for extra, expected in ((high * (1 - 1e-7), "stable"), (high * (1 + 1e-7), "unstable")):
        assert floquet(rated(0.5, extra)).verdict == expected
    assert answer.open
    assert "may be missing" in answer.lines[-1]


@pytest.mark.slow
def test_several_rates_are_asked_in_steps() -> None:
    answer = answered(two_rates(), NetworkQuestion("gain windows", ("a",)))
    stable = [span for span in spans(answer) if span[2] == "stable"]
    assert len(stable) == 1
    for factor, expected in ((stable[0][1] * 0.9999, "stable"), (stable[0][1] * 1.0001, "unstable")):
        assert floquet(scaled_system(two_rates(), ("a",), factor)).verdict == expected
    later = answered(two_rates(), NetworkQuestion("critical delay", ("a", "b")))
    at = Fraction(later.numbers["at"])
    assert floquet(later_system(two_rates(), ("a", "b"), at * 2)).verdict == "unstable"


@pytest.mark.slow
def test_a_map_has_the_windows_of_each_gain() -> None:
    answer = answered(rated(0.5, 0.0), NetworkQuestion("map", ("plant",), up_to=4.0))
    for row in answer.numbers["rows"]:
        for low, high in row["stable"]:
            middle = scaled_system(multirate(rated(0.5, 0.0)), ("plant",), row["factor"])
            assert floquet(later_system(middle, ("plant",), Fraction((low + high) / 2))).verdict == "stable"
    assert answer.numbers["rows"][-1]["stable"] == []  # 5 a step


def test_the_peak_of_a_rated_block_is_that_of_its_complement() -> None:
    """T = k / (z - 1 + k): largest at z = -1, k / (2 - k), where k > 1."""
    answer = answered(rated(1.5, 0.0), NetworkQuestion("peak", source="plant", target="plant"))
    assert answer.numbers["value"] == pytest.approx(3.0, rel=1e-6)
    assert answer.numbers["variance_ratio"] == pytest.approx(1.5 / 0.5, rel=1e-9)  # k / (2 - k)
    assert not answer.open
    assert answered(rated(1.5, 0.0), NetworkQuestion("peak")).open


def test_commands_that_share_an_output_land_later_together() -> None:
    shared = replace(two_rates().samplers[1], writes="a", lands=0.0)
    system = checked([two_rates().samplers[0], shared], two_rates().blocks, two_rates().couplings)
    assert {s.lands for s in later_system(system, ("b",), Fraction(1, 2)).samplers} == {Fraction(1, 2)}


def test_what_a_sampled_network_has_no_answer_to_says_why() -> None:
    answer = answered(two_rates(), NetworkQuestion("interaction", ("a", "b")))
    assert answer.open
    assert "asked of blocks" in answer.lines[0]
    assert answered(rated(3.0, 0.0), NetworkQuestion("peak", source="plant", target="plant")).open


@pytest.mark.parametrize(("gain", "below"), [(0.5, False), (3.0, True), (40.0, True)])
def test_the_critical_gain_of_an_unstable_network_is_a_factor_below_one(gain: float, below: bool) -> None:
    """Of an integrator behind a hold of 1 s without delay: k = 2."""
    answer = answered(rated(gain, 0.0), NetworkQuestion("critical gain", ("plant",)))
    assert answer.numbers["at"] == pytest.approx(2 / gain, rel=1e-6)
    assert (answer.numbers["at"] < 1) is below


@pytest.mark.parametrize(("rate", "delay", "gain", "edge"), [(1.0, 0.0, 3.8, None), (None, 0.8, 1.9, 0.7256398)])
def test_a_window_of_stable_gains_that_is_narrower_than_an_octave_is_found(
    rate: float | None, delay: float, gain: float, edge: float | None
) -> None:
    """x' = 2 x + u, held 1 s: e^2 - k (e^2 - 1) / 2 > -1.  x' = x + u of 0.8 s ago: 0.8 = acos(1/k) / sqrt(k^2 - 1)."""
    pole = 2.0 if rate else 1.0
    net = network(
        [Block("plant", (1.0,), (1.0, -pole), delay), Block("ctl", (gain,), (1.0,), 0.0, rate=rate)],
        [Coupling("plant", "ctl"), Coupling("ctl", "plant", -1)],
    )
    expected = edge or 2 * (math.exp(2) + 1) / (math.exp(2) - 1) / gain
    answer = answered(net, NetworkQuestion("critical gain", ("ctl",)))
    assert answer.numbers["at"] == pytest.approx(expected, rel=1e-6)
