"""Figures of a block: an overhead is the delay index at every load, and what is not measured gives none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.known_systems.scraped import DESIGN, NEED, SERVERS, STEP
from coherence.watching.blocks import DI, HCL, WorkloadBlock
from coherence.watching.twin_grid import ALIKE, GAMMAS, LOG_GAMMAS, TwinQueue
from tests.watching.systems import system


def block_of(rate: float, slowdown: float, **more: float) -> WorkloadBlock:
    """A block whose latency is that of the twin at a slowdown."""
    block, probe = WorkloadBlock(system().workloads[0]), WorkloadBlock(system().workloads[0])
    for _ in range(60):
        probe.take({"web.rate": rate}, 15.0)
        sojourn = probe.twins[-1][0]
        at = math.log(slowdown)
        latency = float(sojourn[abs(LOG_GAMMAS - at).argmin()])
        block.take({"web.rate": rate, "web.latency": latency, **more}, 15.0)
    return block


@pytest.mark.parametrize("rate", [2.0, 8.0, 12.0])
def test_a_slower_machine_has_its_slowdown_at_every_load(rate: float) -> None:
    slowdown = math.exp(LOG_GAMMAS[abs(LOG_GAMMAS - math.log(1.4)).argmin()])
    figure = block_of(rate, slowdown).figures()[DI]
    assert figure.value == pytest.approx(math.log(slowdown), abs=1e-6)
    assert figure.error < 1e-6


@pytest.mark.parametrize("slowdown", [1.03, 1.05, 1.085, 1.15])
@pytest.mark.parametrize("servers", [8, 32])
def test_an_overload_that_is_over_does_not_hide_a_small_slowdown(servers: int, slowdown: float) -> None:
    """Queues of somewhat slower twins stand for hours after it: from them to the twin that is as fast is a kink."""
    text = DESIGN.replace(f"entitlement: {SERVERS}", f"entitlement: {servers}")
    block, truth = WorkloadBlock(system(text).workloads[0]), TwinQueue(servers, 1.0)
    present, full = np.zeros(len(GAMMAS)), servers / NEED
    for rate in [0.93 * full] * 480 + [0.6 * full] * 60:
        present, step = truth.advanced(present, rate, NEED * slowdown, STEP)
        if rate < 0.9 * full and len(block.rows) > 460:
            block.clear()
        block.take({"web.rate": rate, "web.latency": float(step.sojourn[ALIKE])}, STEP)
    assert block.figures()[DI].value == pytest.approx(math.log(slowdown), abs=0.012)


def test_requests_without_an_answer_are_as_slow_as_can_be() -> None:
    block = WorkloadBlock(system().workloads[0])
    for _ in range(20):
        block.take({"web.rate": 5.0, "web.latency": math.nan}, 15.0)
    assert block.figures()[DI].value == LOG_GAMMAS[-1]


def test_hidden_loss_is_a_ratio_of_sums() -> None:
    block = block_of(5.0, 1.0, **{"web.done": 5.0, "web.held": 2.5})
    assert block.figures()[HCL].value == pytest.approx(1 - 5 * 0.4 / 2.5)


@pytest.mark.parametrize("values", [{}, {"web.rate": -3.0, "web.latency": 1.0}, {"web.rate": math.inf}])
def test_what_is_no_amount_gives_no_figure(values: dict[str, float]) -> None:
    block = WorkloadBlock(system().workloads[0])
    for _ in range(20):
        assert math.isnan(block.take(values, 15.0))
    assert block.figures() == {}
    assert block.in_time() is None
