"""python-control's own closing of sampled systems beside our lap: two readings of the same rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.interchange.single_rate import closed_single_rate
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Block, Coupling
from tests.draws import few

pytest.importorskip("control", reason="python-control is not installed")


def drawn_system(data: st.DataObject) -> Multirate:
    """Draws two coupled plants and two samplers of two seconds, with delays, landings, laws and orders."""
    steps, gains = st.sampled_from([0, 0, 2, 4]), st.floats(-0.6, 0.6).filter(lambda gain: abs(gain) > 0.01)
    plants = [
        Block(name, (1.0,), (1.0, data.draw(st.sampled_from([0.0, 0.3, 2.0]))), data.draw(steps)) for name in "pq"
    ]
    shift = Block("shift", (1.0,), (1.0,), float(data.draw(st.sampled_from([0, 2, 6]))))
    samplers = [
        Sampler(name, *data.draw(st.sampled_from([((1.0,), (1.0,)), ((1.0, 0.0), (1.0, -0.5)), ((1.0,), (1.0, 0.4))])),
                2.0, lands=data.draw(steps), rank=data.draw(st.integers(0, 2)))
        for name in "cd"
    ]  # fmt: skip
    pairs = [
        ("c", "p"),
        ("c", "shift"),
        ("shift", "q"),
        ("d", "q"),
        ("p", "c"),
        ("q", "d"),
        ("p", "d"),
        ("c", "d"),
        ("d", "c"),
    ]
    return checked(samplers, [*plants, shift], [Coupling(s, t, data.draw(gains)) for s, t in pairs])


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(st.data())
def test_both_readings_have_the_same_largest_modulus(data: st.DataObject) -> None:
    system = drawn_system(data)
    closed, step = closed_single_rate(system)
    assert step == 2
    assert np.abs(closed.poles()).max() == pytest.approx(floquet(system).modulus, rel=1e-3, abs=1e-3)


def test_an_integrator_with_one_step_of_delay_is_z_squared_minus_z_plus_k() -> None:
    system = checked(
        [Sampler("c")], [Block("p", (1.0,), (1.0, 0.0), 1.0)], [Coupling("c", "p"), Coupling("p", "c", -0.5)]
    )
    closed, _ = closed_single_rate(system)
    assert np.abs(closed.poles()).max() == pytest.approx(np.abs(np.roots([1, -1, 0.5])).max())


@pytest.mark.parametrize(
    ("samplers", "block", "reason"),
    [
        ([Sampler("c"), Sampler("d", period=2.0)], Block("p", (1.0,), (1.0, 0.0)), "several rates"),
        ([Sampler("c", window=2.0)], Block("p", (1.0,), (1.0, 0.0)), "a window"),
        ([Sampler("c")], Block("p", (1.0,), (1.0, 0.0), 0.3), "a part of a step"),
        ([Sampler("c")], Block("p", (1.0,), (1.0,)), "in the instant in which it comes"),
    ],
)
def test_what_python_control_has_nothing_for_is_refused(samplers: list[Sampler], block: Block, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        closed_single_rate(checked(samplers, [block], [Coupling("c", "p"), Coupling("p", "c", -0.5)]))
