"""The ledger: sums, denominators, what refutes it, and its falsifiers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.answers.intervals import LEVEL
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import capacity, fleet
from coherence.causal.ledger.loss_ledger import DENOMINATORS, LossLedger, ledger
from coherence.causal.ledger.report import ledger_to_dict, waterfall
from coherence.causal.ledger.states import KINDS, columns, entries, losses
from coherence.causal.ledger.times import Times, layout, times, unbalanced, with_rest_unlabelled, with_work
from tests.causal.ledger.fleets import random_fleet, random_times

ONE = fleet({"h100": 10}, {"h100": {"chat": 10}}, {"chat": 1})


def one(window: float = 100, **seconds: float) -> LossLedger:
    """A ledger of ten equal devices that finish 10 units a second."""
    named = {name.replace("useful", "useful.chat"): amount for name, amount in seconds.items()}
    return ledger(capacity(ONE), times(ONE, {"h100": named}, window))


def sums(given: LossLedger) -> tuple[float, float]:
    """(error of the sum, most negative term), relative to what is provisioned."""
    whole = given.totals["provisioned"]
    gap = (given.nominal - given.effective) * given.times.window
    error = abs(math.fsum(line.amount for line in given.states) - gap) / whole
    return error, min(line.amount for line in given.states) / whole


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_fleets_sum_exactly_with_no_negative_term(count: int) -> None:
    random = np.random.default_rng(11)
    for _ in range(count):
        given = random_fleet(random)
        found = ledger(capacity(given), random_times(given, random))
        error, least = sums(found)
        assert error <= 1e-12
        assert least >= -1e-15
        assert not found.violations
        types = math.fsum(line.amount for line in found.types)
        assert types == pytest.approx(found.totals["loss"], rel=1e-12)
        provisioned = float((given.count * found.times.window) @ found.capacity.y)
        assert found.totals["provisioned"] == pytest.approx(provisioned, rel=1e-12)
        assert found.nominal == pytest.approx(found.capacity.value, rel=1e-12)


def test_a_ledger_by_hand() -> None:
    found = one(useful=400, barrier=200, recompute=100, timed_out=50, idle_stranded=50, idle_slack=200)
    assert (found.nominal, found.effective) == (100, 40)
    assert (found.loss_text, found.loss_structural) == pytest.approx((60, 40))
    assert found.gap.value == pytest.approx(0.6)
    assert found.structural.value == pytest.approx(0.5)
    assert found["A"].shares["loss"].value == pytest.approx(0.5)
    assert {of: found["A"].shares[of].value for of in DENOMINATORS} == pytest.approx(
        {"provisioned": 0.2, "demanded": 0.25, "held": 200 / 750, "loss": 0.5}
    )
    assert found["B"].seconds == 150
    assert found["R"].amount == 500
    assert found.mode == "cost"
    assert one(useful=900, barrier=100).mode == "throughput"


def test_what_is_not_structural_and_what_nothing_names_is_lost_but_not_structural() -> None:
    """50 of 100 lost: 20 to a barrier, 15 to input data, 15 unlabelled; coordination could win back the 20."""
    found = one(useful=500, barrier=200, data_pipeline=150, unlabelled=150)
    assert (found.loss_text, found.loss_structural) == pytest.approx((50, 20))
    assert (found.structural.value, found.gap.value) == pytest.approx((0.2, 0.5))
    assert found.totals["loss"] == pytest.approx(5000), "shares of the loss stay shares of all that is lost"
    assert [found[letter].shares["loss"].value for letter in "AOU"] == pytest.approx([0.4, 0.3, 0.3])


def test_an_idle_fleet_has_lost_nothing() -> None:
    """The falsifier of the two headlines: U_gap near 1, U_struct 0."""
    found = one(useful=10, idle_slack=990)
    assert found.gap.value == pytest.approx(0.99)
    assert found.structural.value == pytest.approx(0, abs=1e-15)
    empty = one(idle_slack=1000)
    assert empty.gap.value == 1
    assert math.isnan(empty.structural.value), "nothing was demanded: nothing can be said"
    assert ledger_to_dict(empty)["U_struct"]["value"] is None


def test_misplacement_is_right_work_on_the_wrong_device() -> None:
    """Train on a100 and chat on h100, where the other way round is best: no state shows it, the sum does."""
    given = fleet(
        {"h100": 10, "a100": 10}, {"h100": {"chat": 20, "train": 10}, "a100": {"chat": 20, "train": 2}},
        {"chat": 1, "train": 1},
    )  # fmt: skip
    found = ledger(capacity(given), times(given, {"h100": {"useful.chat": 1000}, "a100": {"useful.train": 1000}}, 100))
    assert found["misplacement"].amount == pytest.approx(found.totals["gap"])
    assert found["misplacement"].letter == "B"
    assert found["misplacement"].seconds is None
    right = {"h100": {"useful.train": 1000}, "a100": {"useful.chat": 500, "idle_slack": 500}}
    assert ledger(capacity(given), times(given, right, 100))["misplacement"].amount == pytest.approx(0, abs=1e-9)


def test_states_that_do_not_add_up_name_the_device_and_the_seconds() -> None:
    given = fleet({"h100": 10, "a100": 4}, {"h100": {"chat": 10}, "a100": {"chat": 5}}, {"chat": 1})
    wrong = times(given, {"h100": {"useful.chat": 900}, "a100": {"useful.chat": 401.5}}, 100)
    with pytest.raises(InputError) as caught:
        ledger(capacity(given), wrong)
    text = str(caught.value)
    assert "h100 add up to 900 device-seconds of 1000: 100 missing" in text
    assert "a100 add up to 401.5 device-seconds of 400: 1.5 in surplus" in text
    rest = with_rest_unlabelled(times(given, {"h100": {"useful.chat": 900}, "a100": {"useful.chat": 400}}, 100))
    assert not unbalanced(rest)
    assert ledger(capacity(given), rest)["U"].seconds == 100


def test_work_beyond_its_need_is_slowed() -> None:
    given = times(ONE, {"h100": {"useful.chat": 800, "idle_slack": 200}}, 100)
    found = ledger(capacity(ONE), with_work(given, np.array([[6000.0]])))
    assert found["slowed"].seconds == pytest.approx(200)
    assert found.effective == pytest.approx(60)
    assert sums(found)[0] <= 1e-12


def test_work_faster_than_alone_refutes_the_rate_and_is_not_cut_off() -> None:
    given = times(ONE, {"h100": {"useful.chat": 800, "idle_slack": 200}}, 100)
    found = ledger(capacity(ONE), with_work(given, np.array([[9600.0]])))
    assert found["slowed"].seconds == pytest.approx(-160)
    assert found["slowed"].amount == pytest.approx(-1600)
    assert any("r[h100,chat] = 10" in one and "12 per device-second" in one for one in found.violations)
    assert any("t[h100,slowed] = -160" in one for one in found.violations)
    assert sums(found)[0] <= 1e-12, "the sum holds all the same"


def test_useful_time_where_the_rate_is_nought_is_told() -> None:
    given = fleet({"a": 1, "b": 1}, {"a": {"p": 1}, "b": {"q": 1}}, {"p": 1, "q": 1})
    found = ledger(capacity(given), times(given, {"a": {"useful.q": 10}, "b": {"useful.q": 10}}, 10))
    assert any("r[a,q] = 0" in one for one in found.violations)


def test_prices_of_another_fleet_are_refused_or_told() -> None:
    other = fleet({"h100": 11}, {"h100": {"chat": 10}}, {"chat": 1})
    with pytest.raises(UsageError, match="different fleets"):
        ledger(capacity(other), times(ONE, {"h100": {"useful.chat": 1000}}, 100))


def test_a_share_over_prices_that_are_not_unique_has_a_range() -> None:
    given = fleet({"a": 10, "b": 10}, {"a": {"p": 1}, "b": {"q": 1}}, {"p": 1, "q": 1})
    spent = {"a": {"useful.p": 50, "barrier": 50}, "b": {"useful.q": 100}}
    found = ledger(capacity(given), times(given, spent, 10))
    share = found["A"].shares["provisioned"]
    assert (share.low, share.high) == pytest.approx((0, 0.5), abs=1e-9)
    assert share.low <= share.value <= share.high
    gap = found.gap
    assert (gap.low, gap.high) == pytest.approx((0, 0.5), abs=1e-9)


def test_scaling_time_fleet_and_work_leaves_shares_alone() -> None:
    random = np.random.default_rng(3)
    given = random_fleet(random)
    spent = random_times(given, random, batches=6)
    before = ledger(capacity(given), spent)
    scaled = type(given)(given.devices, given.classes, given.count * 3, given.rate * 7, given.mix)
    after = ledger(capacity(scaled), Times(scaled, spent.seconds * 3 * 10, spent.windows * 10))
    assert after.nominal == pytest.approx(before.nominal * 21)
    for line in before.states:
        for of in DENOMINATORS:
            assert after[line.name].shares[of].value == pytest.approx(line.shares[of].value, rel=1e-9, abs=1e-12)
            assert after[line.name].shares[of].estimate.low == pytest.approx(
                line.shares[of].estimate.low, rel=1e-9, abs=1e-12
            )


@pytest.mark.slow
def test_intervals_cover_the_true_share() -> None:
    assert 0.93 <= coverage(400) <= 0.97


def coverage(runs: int) -> float:
    """How often 95 % intervals of a share of a state that comes and goes for 20 s hold its mean (2 h runs)."""
    random = np.random.default_rng(1)
    hit, capable = 0, capacity(ONE)
    for _ in range(runs):
        level = autocorrelated(random, 7200)
        parts = level.reshape(12, 600).sum(axis=1)
        seconds = np.zeros((12, 1, len(layout(ONE.classes))))
        labels = layout(ONE.classes)
        seconds[:, 0, labels.index("barrier")] = parts
        seconds[:, 0, labels.index("useful.chat")] = 6000 - parts
        found = ledger(capable, Times(ONE, seconds, np.full(12, 600.0)))
        hit += 0.3 in found["A"].shares["provisioned"].estimate
    return hit / runs


def autocorrelated(random: np.random.Generator, length: int) -> Floats:
    """Devices in a barrier, second by second: mean 3, memory of 20 s."""
    from scipy.signal import lfilter

    keep = math.exp(-1 / 20)
    noise = random.normal(0, 1, length + 200)
    noise[0] /= math.sqrt(1 - keep**2)
    level: Floats = 3 + 0.5 * lfilter([1], [1, -keep], noise)[200:] * math.sqrt(1 - keep**2)
    return level


def test_intervals_cover_in_short() -> None:
    assert abs(coverage(40) - LEVEL) <= 0.10


# -- states and types ------------------------------------------------------------------------------


def test_every_type_has_a_page_and_every_state_one_type() -> None:
    assert set(entries()) == {"R", "C", "D", "A", "B", "O", "U"}
    assert [loss.order for loss in losses()] == sorted(loss.order for loss in losses())
    names = [column.name for column in columns()]
    assert len(set(names)) == len(names)
    kinds = [KINDS.index(column.kind) for column in columns()]
    assert kinds == sorted(kinds)
    for entry in entries().values():
        assert entry.page.startswith(f"{entry.loss.letter}, {entry.loss.name}")
        assert "## What" in entry.page
        assert "## Source" in entry.page


def test_the_precedence_is_that_of_the_definitions() -> None:
    labels = layout(("chat",))
    order = ["timed_out", "abandoned_branch", "repeated_query", "barrier", "recompute", "data_pipeline", "useful.chat",
             "hidden", "idle_stranded", "idle_slack", "unlabelled"]  # fmt: skip
    assert [labels.index(name) for name in order] == sorted(labels.index(name) for name in order)


# -- reports -----------------------------------------------------------------------------------------


def test_the_waterfall_ends_at_what_is_effective() -> None:
    random = np.random.default_rng(8)
    given = random_fleet(random)
    found = ledger(capacity(given), random_times(given, random, batches=12))
    bars = waterfall(found)
    assert bars[0].end == pytest.approx(found.nominal)
    assert bars[-2].end == pytest.approx(bars[-1].end) == pytest.approx(found.effective)
    assert all(after.start == before.end for before, after in pairwise(bars[:-1]))


def test_unknown_names_are_answered() -> None:
    with pytest.raises(UsageError, match="did you mean 'barrier'"):
        one(useful=1000)["barier"]
    with pytest.raises(InputError) as caught:
        times(ONE, {"h100": {"barier": 1, "gang": math.nan}, "h10": {"gang": 1}}, 100)
    assert "did you mean 'barrier'" in str(caught.value)
    assert "'h10'" in str(caught.value)
    with pytest.raises(UsageError, match="window"):
        times(ONE, {}, 0)
