"""What loops off would win back: types that add up, C(S) by hand, amplification of a loop that causes more."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import loops_off
from coherence.causal.session.context import Context
from tests.causal.sections.contexts import context, tables
from tests.causal.systems import wandering

ROWS = 600
DESIGN = """coherence: 1
workload: {chat: {rate: 300 req/s}}
infrastructure: {tiers: {h100: {count: 10, rate_chat: 50 req/s}}}
components:
  batch: {window: 0 .. 100, wait: batch.window * held, held: 0 .. 10}
  h100: {batch_window: batch.window * slots, superseded: batch.wait * late, slots: 0 .. 10, late: 0 .. 10}
loops:
  packer:
    layer: runtime
    target: {signal: batch.depth}
    timescale: {period: 10 s}
    trigger: batch.depth > 0
    actuation: {signal: batch.window, law: set, to: batch.depth, bounds: 0 .. 100}
"""


def fleet(seed: int = 1) -> Context:
    """Ten devices: 0.5 of them wait for each unit of a window around 2, and 0.25 redo what came too late for it."""
    rng = np.random.default_rng(seed)
    depth = 2 + 0.2 * wandering(rng, ROWS, 0.3, 1)
    window = np.concatenate([depth[:1], depth[:-1]]) + 0.02 * rng.normal(size=ROWS)
    wait = 3 * window + 0.05 * rng.normal(size=ROWS)
    held = 0.5 * window + 0.02 * rng.normal(size=ROWS)
    redone = wait / 12 + 0.02 * rng.normal(size=ROWS)
    signals = {
        "batch.window": window, "batch.wait": wait, "h100.batch_window": held, "h100.superseded": redone,
        "h100.useful": np.full(ROWS, 6.0), "h100.idle_slack": 4 - held - redone,
        "batch.depth": depth,
    }  # fmt: skip
    return context(DESIGN, signals, loss="L_struct", off=("packer",))


def test_types_of_a_loop_add_up_to_its_amount_and_what_it_causes_further_on_is_amplification() -> None:
    """At 50 req/s a device: 50 of batches (B), and 25 of what is redone (R), which nothing books on the packer."""
    section = loops_off.answer(fleet())
    assert section is not None
    found, (loop,) = section.data["recovery"], section.data["loops"]
    types = found["types"]["packer"]
    assert sum(types.values()) == pytest.approx(loop["amount"]["value"], rel=1e-9)
    assert (types["B"], types["R"]) == (pytest.approx(50, rel=0.05), pytest.approx(25, rel=0.1))
    (gain,) = found["gains"]
    assert found["C_nom"] == 500
    assert gain["reached"]["value"] == pytest.approx(300 + loop["alone"]["value"], rel=1e-9)
    assert gain["amplification"]["value"] == pytest.approx(1.5, rel=0.05)
    assert found["violations"] == []
    assert tables(section)[1].header == ("amount by type", "R", "B")
    assert float(tables(section)[2].rows[0][2].removesuffix(" %")) == pytest.approx(75, abs=0.5)  # 375 of 500


def test_another_loss_has_no_ledger_to_win_back() -> None:
    given = fleet()
    section = loops_off.answer(context(DESIGN, {name: given.whole[name] for name in given.whole.names},
                                       loss="h100.superseded", off=("packer",)))  # fmt: skip
    assert section is not None
    assert "recovery" not in section.data
