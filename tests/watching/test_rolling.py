"""Rolling indices of blocks whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.known_systems.scraped import NEED, OVERHEAD, SERVERS, STEP, scrapes
from coherence.watching.rolling import BlockRecord, coherence_index, delay_index, hidden_loss, wave_index
from coherence.watching.twin_grid import GAMMAS
from tests.watching.systems import monitored

RECORD = BlockRecord(0.0, 5.0, 1.0, math.log(1.2), 4.0, 5.0, 100.0, 90.0, (100.0, 10.0, 50.0, 30.0, 20.0, 4.0))


@pytest.mark.slow
def test_the_overhead_of_a_simulated_service_is_its_delay_index() -> None:
    monitor, _ = monitored(scrapes(3, 0.6))
    records = monitor.blocks["web"].records
    index = delay_index([record for record in records if record.rate * NEED < 0.6 * SERVERS])
    assert index is not None
    assert index.estimate.value == pytest.approx(OVERHEAD - 1, abs=0.02)
    noon = delay_index(records[-12:])  # its twin is slow there, and the interval has it
    assert noon is not None
    assert OVERHEAD - 1 in noon.estimate
    hidden = hidden_loss(records[-12:])
    assert hidden is not None
    assert hidden.estimate.value == pytest.approx(1 - 1 / (1.1 * OVERHEAD), abs=0.01)
    coherence = coherence_index(records[-12:], STEP)
    assert coherence is not None
    assert 1 / OVERHEAD in coherence.estimate
    assert coherence.estimate.high - coherence.estimate.low < 0.6


def test_what_all_blocks_say_has_no_spread() -> None:
    index = delay_index([RECORD] * 12)
    assert index is not None
    assert index.estimate.value == pytest.approx(0.2)
    assert index.estimate.low == pytest.approx(0.2)
    assert delay_index([RECORD]) is None


def test_coherence_is_the_slowdown_whose_share_is_seen_and_a_bound_where_all_is_in_time() -> None:
    twins = tuple((100 * np.clip(1.4 - 0.4 * GAMMAS, 0, 1)).tolist())  # 90 % at gamma = 1.25
    index = coherence_index([replace(RECORD, twins=twins)] * 12, STEP)
    assert index is not None
    assert index.estimate.value == pytest.approx(1 / 1.25, rel=0.01)
    bound = coherence_index([replace(RECORD, twins=twins, in_time=100.0)] * 12, STEP)
    assert bound is not None
    assert (bound.bound, bound.estimate.high) == (">=", math.inf)
    none = coherence_index([replace(RECORD, twins=twins, in_time=0.0)] * 12, STEP)
    assert none is not None
    assert (none.bound, none.estimate.low) == ("<=", 0.0)


def test_the_doubt_of_the_twin_widens_what_waits() -> None:
    twins = tuple((100 * np.clip(1.4 - 0.4 * GAMMAS, 0, 1)).tolist())
    widths: list[float] = []
    for waits in (0.0, 0.5, 1.0):
        record = replace(RECORD, twins=twins, waits=waits)
        delay, coherence = delay_index([record] * 12), coherence_index([record] * 12, STEP)
        assert delay is not None
        assert coherence is not None
        assert math.log(1.2) in replace(
            delay.estimate, low=math.log1p(delay.estimate.low), high=math.log1p(delay.estimate.high)
        )
        widths.append(delay.estimate.high - delay.estimate.low + coherence.estimate.high - coherence.estimate.low)
    assert widths == sorted(widths)
    assert widths[2] > widths[0] + 0.1


def test_waves_are_what_others_feel_of_a_burst() -> None:
    index = wave_index([RECORD] * 24, delay_index([RECORD] * 12), need=1.0)
    assert index is not None
    quiet, own, other = 0.1, 0.6, 0.2
    assert index.estimate.value == pytest.approx((other - quiet) / (own - quiet + 0.1))
    calm = replace(RECORD, slowdown=0.01)
    none = wave_index([calm] * 24, delay_index([calm] * 12), need=1.0)
    assert none is not None
    assert none.estimate.value == 0
    assert (
        wave_index([replace(RECORD, waves=(1.0, 1.0, 0.0, 0.0, 0.0, 0.0))] * 24, delay_index([RECORD] * 12), 1.0)
        is None
    )
