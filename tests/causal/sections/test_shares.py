"""Shares of a loss: what is told adds up to what was measured, and what cannot be split says what to measure."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.sections import shares
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables
from tests.causal.systems import steady_slopes

LOSS = "trainer.step_time"
EXTRAPOLATED = (
    "extrapolated beyond what was measured: 0 for x.level (1.228 .. 8.066), 0 for y.level (3.683 .. 24.2); for another "
    "level, --reference SIGNAL=VALUE"
)
SUM = """coherence: 1
components:
  a: {out: x.level * k + y.level * m, k: 0 .. 10, m: 0 .. 10}
"""


def test_shares_are_products_of_slopes_and_own_levels() -> None:
    """By hand: reads act on the loss through the wait; the wait has of its own what reads do not explain."""
    signals = chain()
    reads, wait, step_time = signals.values()
    (first,), (second,) = steady_slopes(wait, reads), steady_slopes(step_time, wait)
    reads, wait, step_time = reads[2:], wait[2:], step_time[2:]  # the first two have no past
    section = shares.answer(context(CHAIN, signals, loss=LOSS))
    assert section is not None
    amounts = {share["cause"]: share["amount"]["value"] for share in section.data["shares"]}
    assert amounts == {
        "disk.reads": pytest.approx(first * second * reads.mean()),
        "loader.wait": pytest.approx(second * (wait.mean() - first * reads.mean())),
    }
    unexplained = section.data["unexplained"]["value"]
    assert unexplained == pytest.approx(step_time.mean() - second * wait.mean())
    assert sum(amounts.values()) + unexplained == pytest.approx(step_time.mean(), rel=1e-12)
    assert section.data["measured"]["value"] == pytest.approx(step_time.mean(), rel=1e-12)


def test_without_chance_everything_is_the_cause_and_the_rest_is_nothing() -> None:
    (table,) = tables(shares.answer(context(CHAIN, chain(noise=0.0), loss=LOSS)))
    assert [row[:1] + row[2:3] for row in table.rows] == [
        ("disk.reads", "100.0 %"), ("loader.wait", "0.0 %"), ("unexplained", "0.0 %"), ("measured", "100.0 %"),
    ]  # fmt: skip
    assert [row[1:] for row in table.rows[1:3]] == [("0", "0.0 %", "")] * 2  # rounding is no interval


def test_the_largest_share_comes_first_whatever_its_sign() -> None:
    signals = chain()
    signals["loader.wait"] = signals["loader.wait"] - 12  # of its own now: -12
    signals["trainer.step_time"] = signals["trainer.step_time"] - 18
    section = shares.answer(context(CHAIN, signals, loss=LOSS))
    assert [row[0] for row in tables(section)[0].rows] == ["loader.wait", "disk.reads", "unexplained", "measured"]
    assert section is not None
    assert section.data["shares"][0]["amount"]["value"] == pytest.approx(-18, abs=0.5)


def test_a_reference_counts_as_no_loss() -> None:
    signals = chain()
    at_zero = shares.answer(context(CHAIN, signals, loss=LOSS))
    section = shares.answer(context(CHAIN, signals, loss=LOSS, reference={"disk.reads": 4.0}))
    assert section is not None
    assert at_zero is not None
    reads = section.data["shares"][0]["amount"]["value"]
    whole = at_zero.data["shares"][0]["amount"]["value"]
    assert reads == pytest.approx(whole * (1 - 4 / signals["disk.reads"][2:].mean()))
    assert tables(section)[0].rows[-1][0] == "measured, beyond that"


def test_causes_that_move_together_are_one_share_with_what_to_measure() -> None:
    rng = np.random.default_rng(0)
    x = 5 + rng.normal(0, 1, 400)
    section = shares.answer(
        context(SUM, {"x.level": x, "y.level": 3 * x, "a.out": 2 * x + rng.normal(0, 0.1, 400)}, loss="a.out")
    )
    assert tables(section)[0].rows[0][0] == "x.level + y.level"
    assert lines(section) == [
        "x.level + y.level: cannot be split, for they move together: only their sum can be told",
        "  to split it, measure a stretch of time in which x.level changes and y.level does not",
        EXTRAPOLATED,
    ]


@pytest.mark.parametrize(("offset", "first"), [(0.0, "x.level + y.level together make"), (7.0, "no cause of it can")])
def test_the_first_line_tells_a_sum_where_only_sums_are_told(offset: float, first: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(5, 1, 2_000)
    signals = {"x.level": x, "y.level": offset + 3 * x, "a.out": 2 * x + rng.normal(size=2_000)}
    section = shares.answer(context(SUM, signals, loss="a.out"))
    assert section is not None
    assert first in section.headline


def test_without_a_loss_there_is_no_section_and_a_reference_is_refused() -> None:
    assert shares.answer(context(CHAIN, chain())) is None
    with pytest.raises(UsageError, match="name the loss with --loss"):
        shares.answer(context(CHAIN, chain(), reference={"disk.reads": 1.0}))


def test_a_share_against_a_level_that_was_never_measured_says_that_it_extrapolates() -> None:
    signals = chain()
    signals["disk.reads"] = np.abs(signals["disk.reads"]) + 1
    section = shares.answer(context(CHAIN, signals, loss=LOSS))
    assert section is not None
    lowest = float(signals["disk.reads"].min())
    told = {one["cause"]: one["lowest"] for one in section.data["extrapolated"]}
    assert told["disk.reads"] == lowest
    assert any("extrapolated" in line and "0 for disk.reads" in line for line in lines(section))


def test_a_share_against_a_level_among_the_measured_ones_is_told_plainly() -> None:
    signals = {name: values - values.mean() for name, values in chain().items()}
    section = shares.answer(context(CHAIN, signals, loss=LOSS))
    assert section is not None
    assert section.data["extrapolated"] == []


def test_a_feedback_with_gaps_is_a_refusal_of_its_shares_alone() -> None:
    design = """coherence: 1
components:
  a: {out: "x.level * k + delayed(w, 10 s) * f", k: 0 .. 10, f: 0 .. 0.9, w: out * m, m: 0 .. 1}
"""
    rng, out, back = np.random.default_rng(0), np.zeros(400), np.zeros(400)
    x = rng.normal(0, 1, 400)
    for at in range(400):
        out[at] = x[at] + 0.5 * (back[at - 1] if at else 0.0) + 0.2 * rng.normal()
        back[at] = 0.5 * out[at] + 0.2 * rng.normal()
    out[100:104] = np.nan
    section = shares.answer(context(design, {"x.level": x, "a.out": out, "a.w": back}, loss="a.out"))
    (line,) = lines(section)
    assert line.startswith("refused: a.out feeds back and has gaps")
