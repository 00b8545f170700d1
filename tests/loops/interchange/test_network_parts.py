"""Networks of other tools' systems beside what these tools compute of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherence
from coherence.base.errors import UsageError
from coherence.loops.interchange.network_parts import network
from coherence.loops.interchange.open_loop import opened_at
from coherence.loops.margins.network_margins import margins
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Network
from tests.draws import few

control = pytest.importorskip("control", reason="python-control is not installed")


def moduli(roots: Any) -> np.ndarray:
    sizes = np.sort(np.abs(np.asarray(roots)))[::-1]
    return sizes[sizes > 1e-3]


def continuous(systems: dict[str, Any], *couplings: tuple[Any, ...], **delays: float) -> Network:
    net = network(systems, couplings, delays=delays)
    assert isinstance(net, Network)
    return net


def sampled(systems: dict[str, Any], *couplings: tuple[Any, ...], **delays: float) -> Multirate:
    net = network(systems, couplings, delays=delays)
    assert isinstance(net, Multirate)
    return net


@pytest.mark.slow
def test_a_delay_stands_at_the_outputs() -> None:
    for plant in (control.tf([1], [1, 0]), control.ss(0, 1, 1, 0)):
        point = margins(continuous({"plant": plant}, ("plant", "plant", -1), plant=1.0), "plant").margins
        assert point is not None
        assert point.upper_gain == pytest.approx(math.pi / 2)


def test_a_discrete_controller_of_a_held_plant_is_that_of_the_textbook() -> None:
    """k / (z - 1) with a plant 1/s and a hold: z^2 - 2 z + 1 + k, never stable."""
    net = sampled(
        {"plant": control.tf([1], [1, 0]), "c": control.tf([0.5], [1, -1], 1.0)}, ("plant", "c"), ("c", "plant", -1)
    )
    assert floquet(net).verdict == "unstable"
    assert moduli(floquet(net).multipliers) == pytest.approx(moduli(np.roots([1, -2, 1.5])))


def test_discrete_systems_see_each_other_in_their_instant() -> None:
    """A gain of 0.5 around 1 / (z - 1): z - 0.5, without any further delay."""
    net = sampled({"p": control.tf([1], [1, -1], 1.0), "k": control.tf([0.5], [1], 1.0)}, ("p", "k"), ("k", "p", -1))
    assert moduli(floquet(net).multipliers) == pytest.approx([0.5])
    late = sampled(
        {"p": control.tf([1], [1, -1], 1.0), "k": control.tf([0.5], [1], 1.0)}, ("p", "k"), ("k", "p", -1), k=2.0
    )
    assert moduli(floquet(late).multipliers) == pytest.approx(moduli(np.roots([1, -1, 0, 0.5])))


def test_a_block_with_a_rate_stands_behind_a_hold() -> None:
    net = sampled(
        {"plant": Block("x", (1.0,), (1.0, 0.0), rate=1.0), "k": control.tf([0.5], [1], 1.0)},
        ("plant", "k"), ("k", "plant", -1),
    )  # fmt: skip
    assert moduli(floquet(net).multipliers) == pytest.approx([0.5])


numbers = st.floats(-0.9, 0.9).filter(lambda number: abs(number) > 0.05)


@settings(max_examples=few(40), deadline=None)
@given(st.data())
def test_a_random_discrete_loop_has_the_poles_of_python_control(data: st.DataObject) -> None:
    plant = drawn_discrete(data, strictly=True)
    controller = drawn_discrete(data, strictly=False)
    net = sampled({"p": plant, "c": controller}, ("p", "c"), ("c", "p", -1))
    poles = control.feedback(control.series(control.ss(controller), control.ss(plant)), 1).poles()
    assert moduli(floquet(net).multipliers) == pytest.approx(moduli(poles), rel=1e-4, abs=1e-3)


def drawn_discrete(data: st.DataObject, *, strictly: bool) -> Any:
    """Draws a transfer function or a state space of order one or two, of half a second."""
    order = data.draw(st.integers(1, 2))
    if data.draw(st.booleans()):
        a, b, c = ([[data.draw(numbers) for _ in range(n)] for _ in range(m)]
                   for m, n in ((order, order), (order, 1), (1, order)))  # fmt: skip
        return control.ss(a, b, c, [[0.0 if strictly else data.draw(numbers)]], 0.5)
    length = order if strictly else order + 1
    return control.tf(
        [data.draw(numbers) for _ in range(length)], [1, *(data.draw(numbers) for _ in range(order))], 0.5
    )


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_random_controller_of_a_sampled_plant_has_the_poles_of_python_control(data: st.DataObject) -> None:
    plant = control.tf([data.draw(st.floats(0.2, 3))], [1, data.draw(st.floats(0.1, 3)), data.draw(st.floats(0.1, 3))])
    controller = drawn_discrete(data, strictly=False)
    net = sampled({"p": plant, "c": controller}, ("p", "c"), ("c", "p", -1))
    held = control.sample_system(control.ss(plant), 0.5)
    whole = control.feedback(control.series(control.ss(controller), held), 1)
    assert moduli(floquet(net).multipliers) == pytest.approx(moduli(whole.poles()), rel=1e-4, abs=1e-3)
    if isinstance(controller, control.TransferFunction):
        z = np.exp(0.5j * np.array([0.1, 1.0, 3.0]))
        assert np.allclose(opened_at(net, "c").L(z), (controller * control.tf(held))(z), rtol=1e-5)


@settings(max_examples=few(30), deadline=None)
@given(st.data())
def test_a_random_continuous_network_has_the_poles_of_python_control(data: st.DataObject) -> None:
    first, second = (
        control.tf([data.draw(numbers), data.draw(st.floats(0.2, 3))], [1, data.draw(st.floats(0.1, 3)), 1])
        for _ in range(2)
    )
    gain = data.draw(st.floats(-0.9, 0.9))
    net = continuous({"a": first, "b": control.ss(second)}, ("a", "b"), ("b", "a", gain))
    poles = control.feedback(control.ss(first), gain * control.ss(second), 1).poles()
    if abs(poles.real).min() > 1e-6:
        assert verdict(net).verdict == ("stable" if poles.real.max() < 0 else "unstable")


def test_several_inputs_and_outputs_are_named_by_number() -> None:
    turning = [[0, 10], [-10, 0]], np.eye(2), [[1, 10], [-10, 1]], np.zeros((2, 2))
    back = [(f"plant_y{k}", f"plant_u{k}", -1) for k in (1, 2)]
    net = continuous({"plant": control.ss(*turning)}, *back)
    assert verdict(net).verdict == "stable"
    slow = control.sample_system(control.ss(*turning), 0.01)
    whole = control.feedback(slow, control.ss([], [], [], np.eye(2), 0.01))
    lap = floquet(sampled({"plant": slow}, *back))
    assert moduli(lap.multipliers) == pytest.approx(moduli(whole.poles()), rel=1e-6)


def test_what_cannot_be_is_refused() -> None:
    gain = control.tf([0.5], [1], 1.0)
    with pytest.raises(UsageError, match="a and b depend on each other in one instant"):
        network({"a": gain, "b": gain}, [("a", "b"), ("b", "a")])
    with pytest.raises(UsageError, match="no system: did you mean 'plant'"):
        network({"plant": 2}, [("plan", "plant")])
    with pytest.raises(UsageError, match="has a delay and is no system"):
        network({"plant": 2}, delays={"other": 1})
    with pytest.raises(UsageError, match="is no coupling"):
        network({"plant": 2}, ["plant"])


def test_the_door_is_the_same() -> None:
    net = coherence.network({"queue": ([0.05], [1, 0])}, [("queue", "queue", -1)], delays={"queue": 10})
    assert coherence.analyze(net).verdict == "stable"
