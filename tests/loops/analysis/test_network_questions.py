"""What is asked of a network beside its verdict: closed forms, verdicts on both sides, and what stays open."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.analysis.network_analysis import any_stability, scaled
from coherence.loops.analysis.network_answers import KINDS, Answer, NetworkQuestion
from coherence.loops.analysis.network_questions import answered, slowest, steady_plant
from coherence.loops.analysis.render_network_questions import as_json, text
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, loop, network

QUEUE = loop([0.05], [1, 0], delay=10, name="queue")
RATED = network(
    [Block("queue", (1.0,), (1.0, 0.0), 10.0), Block("scaler", (0.05,), (1.0,), rate=15.0)],
    [Coupling("queue", "scaler"), Coupling("scaler", "queue", -1)],
)


def pair(cross: float, delay: float = 1.0) -> Network:
    """Returns two integrators with delay, each fed back with 1, coupled by `cross` one way and the other."""
    blocks = [Block(name, (1.0,), (1.0, 0.0), delay) for name in "ab"]
    inner = [Coupling(name, name, -1) for name in "ab"]
    return network(blocks, [*inner, Coupling("a", "b", -cross), Coupling("b", "a", -cross)])


def number(answer: Answer, key: str = "at") -> float:
    return float(answer.numbers[key])


@pytest.mark.slow
def test_an_integrator_with_delay_has_its_closed_forms() -> None:
    assert number(answered(QUEUE, NetworkQuestion("critical gain"))) == pytest.approx(math.pi, rel=1e-9)
    assert number(answered(QUEUE, NetworkQuestion("critical delay"))) == pytest.approx(
        math.pi / 2 / 0.05 - 10, rel=1e-9
    )
    windows = answered(QUEUE, NetworkQuestion("delay windows", up_to=100.0))
    assert windows.numbers["windows"][0]["to"] == pytest.approx(math.pi / 2 / 0.05, rel=1e-9)
    assert [line.rsplit(" ", 1)[1] for line in windows.lines] == ["stable", "unstable"]
    gains = answered(QUEUE, NetworkQuestion("gain windows"))
    assert gains.numbers["windows"][0]["to"] == pytest.approx(math.pi, rel=1e-9)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.floats(0.0, 0.4), st.floats(0.5, 2.0))
def test_loops_that_change_together_have_the_edge_of_their_strongest_mode(cross: float, delay: float) -> None:
    """Two symmetric loops: the mode 1 + cross; critical gain pi / (2 delay (1 + cross))."""
    net = scaled(pair(cross, delay), ("a", "b"), 0.3)
    answer = answered(net, NetworkQuestion("critical gain", ("a", "b")))
    assert number(answer) == pytest.approx(math.pi / (2 * delay * (1 + cross) * 0.3), rel=1e-6)
    later = answered(net, NetworkQuestion("critical delay", ("a", "b")))
    assert number(later) == pytest.approx(math.pi / (2 * 0.3 * (1 + cross)) - delay, rel=1e-6)


@pytest.mark.slow
def test_blocks_with_different_delays_wait_the_same_time_longer() -> None:
    net = network(
        [Block("a", (0.3,), (1.0, 0.0), 1.0), Block("b", (0.2,), (1.0, 0.0), 3.0)],
        [Coupling("a", "a", -1), Coupling("b", "b", -1), Coupling("a", "b", 0.1), Coupling("b", "a", 0.1)],
    )
    answer = answered(net, NetworkQuestion("critical delay", ("a", "b"), up_to=100.0))

    def later(extra: float) -> str:
        blocks = (replace(block, delay=block.delay + extra) for block in net.blocks)
        return verdict(network(blocks, net.couplings), confirm=False).verdict

    assert (later(number(answer) * 0.999), later(number(answer) * 1.001)) == ("stable", "unstable")


def test_a_sampled_network_is_asked_too() -> None:
    """z^2 - z + 5 k z + 10 k: the product of the roots is 10 k."""
    gain = answered(RATED, NetworkQuestion("critical gain", ("scaler",)))
    assert number(gain) == pytest.approx(2.0, rel=1e-6)
    delay = answered(RATED, NetworkQuestion("critical delay", ("queue",)))
    for extra, stable in ((number(delay, "proved"), True), (number(delay), False)):
        later = (replace(b, delay=b.delay + extra * (b.name == "queue")) for b in RATED.blocks)
        assert (any_stability(network(later, RATED.couplings)).verdict == "stable") is stable


def test_a_resonance_has_its_peak_and_names_its_ends() -> None:
    """A second-order lag of damping 0.1 has 1 / (2 z sqrt(1 - z^2))."""
    net = network([Block("in", (1.0,), (1.0,)), Block("mode", (1.0,), (1.0, 0.2, 1.0))], [Coupling("in", "mode")])
    peak = answered(net, NetworkQuestion("peak", source="in", target="mode"))
    assert number(peak, "value") == pytest.approx(1 / (0.2 * math.sqrt(0.99)), rel=1e-6)
    assert (peak.numbers["from"], peak.numbers["to"], peak.open) == ("in", "mode", False)
    assert answered(scaled(QUEUE, ("queue",), 4.0), NetworkQuestion("peak")).open


WOOD_BERRY = ((12.8, -18.9), (6.6, -19.4))


def column(gain: float = 1.0) -> Network:
    """Returns the steady gains of Wood and Berry's column behind lags, with a controller for each pair."""
    blocks = [
        Block(f"g{i}{j}", (WOOD_BERRY[i][j],), (10.0 + 5 * i + 3 * j, 1.0), 1.0 + i) for i in (0, 1) for j in (0, 1)
    ]
    blocks += [Block("c0", (0.05 * gain,), (1.0,)), Block("c1", (-0.02 * gain,), (1.0,))]
    ends = [Coupling(f"c{j}", f"g{i}{j}") for i in (0, 1) for j in (0, 1)]
    back = [Coupling(f"g{i}{j}", f"c{i}", -1.0) for i in (0, 1) for j in (0, 1)]
    return network(blocks, [*ends, *back])


@pytest.mark.slow
def test_the_interaction_of_a_distillation_column_is_the_published_one() -> None:
    """Relative gain 2.0094 and Niederlinski's index 0.4977 (Wood and Berry 1973)."""
    answer = answered(column(), NetworkQuestion("interaction", ("c0", "c1")))
    assert np.allclose(-steady_plant(column(), ("c0", "c1")), WOOD_BERRY)
    assert answer.numbers["relative_gains"][0][0] == pytest.approx(2.0093866, rel=1e-7)
    assert answer.numbers["niederlinski"] == pytest.approx(0.4976643, rel=1e-6)
    sizes = np.linalg.svd(np.array(WOOD_BERRY), compute_uv=False)
    assert answer.numbers["condition"] == pytest.approx(sizes[0] / sizes[1], rel=1e-9)
    assert 0 < answer.numbers["disk_together"]["size"] < 2


def test_a_plant_that_integrates_has_no_steady_interaction() -> None:
    net = network(
        [Block("plant", (1.0,), (1.0, 0.0)), Block("c", (0.1,), (1.0,))],
        [Coupling("c", "plant"), Coupling("plant", "c", -1.0)],
    )
    answer = answered(net, NetworkQuestion("interaction", ("c",)))
    assert answer.open
    assert "the plant integrates" in answer.lines[0]


@pytest.mark.slow
def test_the_map_of_an_integrator_is_its_hyperbola() -> None:
    answer = answered(QUEUE, NetworkQuestion("map", ("queue",), up_to=60.0))
    for row in answer.numbers["rows"]:
        edge = math.pi / 2 / (0.05 * row["factor"]) - 10
        if edge < 0:
            assert row["stable"] == []
        else:
            assert row["stable"] == [[0.0, pytest.approx(min(edge, 60.0), rel=1e-6)]]


def test_what_has_no_answer_says_why_and_what_is_unknown_is_refused() -> None:
    with pytest.raises(UsageError, match="'queu' is no block: did you mean 'queue'"):
        answered(QUEUE, NetworkQuestion("critical gain", ("queu",)))
    with pytest.raises(UsageError, match="name them with --of"):
        answered(pair(0.1), NetworkQuestion("critical gain"))
    assert answered(pair(0.1), NetworkQuestion("map", ("a", "b"))).open


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "map")) for kind in KINDS])
def test_every_answer_has_lines_and_json_without_infinities(kind: str) -> None:
    answers = [answered(pair(0.1, 0.2), NetworkQuestion(kind, ("a",), up_to=20.0))]
    (data,) = as_json(answers)
    json.dumps(data, allow_nan=False)
    assert data["question"] == kind
    assert text(answers).startswith(f"{kind} of ")


def test_the_slowest_time_is_that_of_a_delay_a_lag_or_an_integrator() -> None:
    assert slowest(QUEUE) == pytest.approx(20.0)
    assert slowest(RATED) == 15.0
    assert slowest(network([Block("lag", (1.0,), (300.0, 1.0))])) == pytest.approx(300.0)
