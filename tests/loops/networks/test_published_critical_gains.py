"""Known answers that no other test of this folder takes: double roots, two loops, a mismatched model."""

from __future__ import annotations

import math
from typing import Any

import pytest

from coherence.loops.networks.critical import critical_delay, critical_gain
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"


def case(name: str) -> dict[str, Any]:
    cases = read_yaml(CASES)["cases"]
    match: dict[str, Any] = next(entry for entry in cases if entry["id"] == name)
    return match


def close(found: float, expected: dict[str, float]) -> bool:
    return math.isclose(found, expected["value"], rel_tol=expected["rtol"], abs_tol=0 if expected["value"] else 1e-6)


def coupled(matrix: list[list[float]], gain: float, delay: float) -> Network:
    """x' = -gain M x(t - delay): an integrator for each row, its output felt late."""
    size = range(len(matrix))
    blocks = [Block(f"x{row}", (gain,), (1.0, 0.0), delay) for row in size]
    return network(blocks, [Coupling(f"x{j}", f"x{i}", -matrix[i][j]) for i in size for j in size])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["B17_two_loops_rotational", "B18_two_loops_symmetric"])
def test_two_integrators_that_feel_each_other_late(name: str) -> None:
    given = case(name)
    net = coupled(given["model"]["M"], 0.1, 1.0)
    critical = critical_gain(net, net.names)
    assert critical.at is not None
    assert close(0.1 * critical.at, given["expected"]["k_crit"])


@pytest.mark.slow
@pytest.mark.parametrize(("angle", "size"), [(math.pi / 4, math.sqrt(2)), (math.pi / 6, 2.0), (0.0, 1.0)])
def test_a_rotation_takes_its_angle_from_the_phase_that_is_left(angle: float, size: float) -> None:
    """Eigenvalues size * exp(+-i angle): critical (pi/2 - angle) / size."""
    real, imaginary = size * math.cos(angle), size * math.sin(angle)
    net = coupled([[real, imaginary], [-imaginary, real]], 0.1, 1.0)
    critical = critical_gain(net, net.names)
    assert critical.at is not None
    assert 0.1 * critical.at == pytest.approx((math.pi / 2 - angle) / size, rel=1e-7)


def test_a_double_root_at_the_edge_of_oscillation() -> None:
    expected = case("B03_lambertw_double_root")["expected"]
    answer = verdict(loop([1 / math.e], [1, 0], 1.0))
    assert answer.stable
    assert close(answer.rightmost[0].real, expected["root_re"])
    assert abs(answer.rightmost[0].imag) <= 1e-6


def predictor(gain: float, model: float, plant: float) -> Network:
    """s + k (1 - exp(-s model) + exp(-s plant)): a Smith predictor whose model is not its plant."""
    blocks = [
        Block("u", (gain,), (1.0, 0.0)),
        Block("model", (1.0,), (1.0,), model),
        Block("plant", (1.0,), (1.0,), plant),
    ]
    felt = [Coupling("u", "u", -1.0), Coupling("u", "model"), Coupling("model", "u"), Coupling("u", "plant")]
    return network(blocks, [*felt, Coupling("plant", "u", -1.0)])


@pytest.mark.slow
def test_how_much_later_than_its_model_a_plant_may_be() -> None:
    given = case("B22_smith_mismatch_k2")
    found = critical_delay(predictor(given["model"]["k"], 1.0, 1.0), ["plant"], highest=6.0)
    assert found.at is not None
    assert close(found.at, given["expected"]["theta_upper"])


def test_a_perfect_model_leaves_the_loop_without_delay() -> None:
    assert verdict(predictor(2.0, 1.0, 1.0)).stable
    assert not verdict(predictor(2.0, 1.0, 3.0)).stable
