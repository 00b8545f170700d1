"""Money beside the loss: sums, amplification, ghost costs, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.ledger.capacity import capacity, fleet
from coherence.causal.ledger.loss_ledger import ledger
from coherence.causal.ledger.pricing import bill, ghosts, prices_of
from coherence.causal.ledger.report import bill_to_dict
from coherence.causal.ledger.times import times
from coherence.language.reading import read_text
from tests.causal.ledger.fleets import random_fleet, random_times

FLEET = fleet({"h100": 10, "a100": 10}, {"h100": {"chat": 20}, "a100": {"chat": 10}}, {"chat": 1})
SPENT = times(
    FLEET,
    {"h100": {"useful.chat": 500, "barrier": 500}, "a100": {"useful.chat": 800, "idle_slack": 200}},
    100,
)
PRICES = {"h100": 0.003, "a100": 0.001}


def test_a_bill_by_hand() -> None:
    given = bill(SPENT, PRICES)
    charges = {one.name: one for one in given.charges if one.cost}
    assert given.cost == pytest.approx(4)
    assert charges["barrier"].cost == pytest.approx(1.5)
    assert charges["barrier"].of_cost == pytest.approx(0.375)
    assert charges["barrier"].of_time == pytest.approx(0.25)
    assert charges["barrier"].amplification == pytest.approx(1.5), "barriers fall on the dear devices"
    assert charges["idle_slack"].amplification == pytest.approx(0.5)


def test_charges_add_up_and_prices_add_no_time() -> None:
    random = np.random.default_rng(1)
    given = random_fleet(random)
    spent = random_times(given, random)
    money = bill(spent, {d: float(p) for d, p in zip(given.devices, random.random(len(given.devices)), strict=True)})
    assert sum(one.cost for one in money.charges) == pytest.approx(money.cost, rel=1e-12)
    assert sum(one.of_time for one in money.charges) == pytest.approx(1, rel=1e-12)
    weighted = sum(one.amplification * one.of_time for one in money.charges if one.of_time)
    assert weighted == pytest.approx(1, rel=1e-12), "the mean amplification over time is 1"
    equal = bill(spent, dict.fromkeys(given.devices, 2.0))
    assert all(one.amplification == pytest.approx(1) for one in equal.charges if one.of_time)
    before = ledger(capacity(given), spent)
    assert before.totals["loss"] == ledger(capacity(given), spent).totals["loss"]


def test_a_state_may_have_a_price_of_its_own() -> None:
    given = bill(SPENT, PRICES, states={("a100", "idle_slack"): 0.0})
    assert given.cost == pytest.approx(3.8)


def test_bad_prices_at_once() -> None:
    with pytest.raises(InputError) as caught:
        bill(SPENT, {"h100": -1.0, "b200": 1.0}, states={("h100", "barier"): 1.0})
    for words in ("a100 has no price", "price of h100 is -1.0", "unknown device 'b200'", "did you mean 'barrier'"):
        assert words in str(caught.value)


def test_time_of_every_structural_type_is_without_progress() -> None:
    """Of C and D as of A, B and R: what nobody reads, and what is computed again, is held without progress."""
    states = {"useful.chat": 100, "barrier": 100, "launch": 100, "timed_out": 100, "replanned": 100,
              "repeated_query": 100, "data_pipeline": 100, "unlabelled": 300}  # fmt: skip
    spent = times(FLEET, {"h100": states, "a100": {"useful.chat": 1000}}, 100)
    time, *_ = ghosts(bill(spent, PRICES))
    assert time.cost == pytest.approx(5 * 100 * 0.003)


def test_ghost_costs() -> None:
    time, tokens, hours = ghosts(bill(SPENT, PRICES), tokens_generated=1e6, tokens_delivered=7e5, price_of_token=2e-6)
    assert time.cost == pytest.approx(1.5), "idle for want of demand is no ghost"
    assert tokens.cost == pytest.approx(0.6)
    assert hours.cost is None
    assert "confirmed cause" in hours.missing
    _, unknown, _ = ghosts(bill(SPENT, PRICES), tokens_generated=10)
    assert unknown.cost is None
    assert unknown.missing == (
        "tokens in accepted results (<workload>.tokens_delivered), "
        "the price of a token (`prices: {token: 0.000002 usd/token}`)"
    )
    _, wrong, _ = ghosts(bill(SPENT, PRICES), tokens_generated=10, tokens_delivered=11, price_of_token=1)
    assert wrong.cost is None
    assert "assumption violated" in wrong.missing
    json.dumps(bill_to_dict(bill(SPENT, PRICES), (time, tokens, hours)), allow_nan=False)


def test_prices_of_a_design() -> None:
    text = """
coherence: 1
infrastructure: {tiers: {h100: {count: 10}, a100: {count: 10}}}
prices: {h100: 3.6 usd/h}
"""
    with pytest.raises(InputError, match="prices: has no 'a100'"):
        prices_of(read_text(text), FLEET)
    whole = read_text(text.replace("usd/h}", "usd/h, a100: 1.8 usd/h}"))
    assert prices_of(whole, FLEET) == pytest.approx({"h100": 0.001, "a100": 0.0005})
    with pytest.raises(InputError, match=r"h100 is 3\.6 usd"):
        prices_of(read_text(text.replace("usd/h}", "usd, a100: 1.8 usd/h}")), FLEET)
