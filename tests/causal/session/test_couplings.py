from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.session import couplings as couplings_module
from coherence.causal.session.coupling_screen import largest_of_blocks
from coherence.causal.session.couplings import couplings
from tests.causal.systems import graph, late, table, wandering

WAYS = graph(Influence("a", "lost"))


def noisy(seed: int, coupled: float, memory: float = 0.9) -> Series:
    """`lost` follows `a`, and 20 signals that remember their past are beside it; the first acts on it if `coupled`."""
    rng = np.random.default_rng(seed)
    others = {f"n{number}": wandering(rng, 3000, memory) for number in range(20)}
    a = wandering(rng, 3000, 0.7)
    lost = 0.8 * a + wandering(rng, 3000, memory) + coupled * np.roll(others["n0"], 1)
    return table(a=a, lost=lost, **others)


@pytest.mark.parametrize("seed", range(4))
def test_an_undeclared_influence_is_found_with_its_delay_and_strength(seed: int) -> None:
    tested = couplings(noisy(seed, 0.3), WAYS)
    assert [(one.cause, one.effect, one.lag) for one in tested.couplings] == [("n0", "lost", 1)]
    assert 0.3 in tested.couplings[0].strength
    assert tested.tests == 20


@pytest.mark.slow
def test_signals_that_remember_their_past_are_not_taken_for_causes() -> None:
    """Naive tests choose 8.6 of 20 here; at most one run of twenty may choose any."""
    wrong = sum(bool(couplings(noisy(seed, 0.0, 0.95), WAYS).couplings) for seed in range(20))
    assert wrong <= 1


def test_a_placebo_finds_nothing() -> None:
    tested = couplings(noisy(1, 0.3), WAYS, placebo=True)
    assert tested.couplings
    assert tested.placebo == 0


def test_effects_and_what_comes_before_the_causes_are_no_couplings() -> None:
    rng = np.random.default_rng(3)
    root = wandering(rng, 3000, 0.6)
    cause = 2 * root + wandering(rng, 3000, 0.6)
    effect = cause + wandering(rng, 3000, 0.6)
    after = np.roll(effect, 1) + wandering(rng, 3000, 0.6)
    ways = graph(Influence("root", "cause"), Influence("cause", "effect"), late("effect", "after"))
    assert couplings(table(root=root, cause=cause, effect=effect, after=after), ways).couplings == ()


def test_of_a_chain_only_the_direct_influence_is_told() -> None:
    rng = np.random.default_rng(4)
    a, far = wandering(rng, 4000, 0.5), wandering(rng, 4000, 0.5)
    near = far + wandering(rng, 4000, 0.5, 0.5)
    lost = a + np.roll(near, 1) + wandering(rng, 4000, 0.5)
    found = couplings(table(a=a, far=far, near=near, lost=lost), WAYS).couplings
    assert [one.cause for one in found] == ["near"]


def test_nothing_declared_is_nothing_tested() -> None:
    assert couplings(table(a=np.arange(9.0), b=np.arange(9.0) ** 2), CausalGraph(("a", "b"), ())).tests == 0


def test_a_trend_and_a_day_that_all_signals_share_are_no_couplings() -> None:
    rng = np.random.default_rng(6)
    day = np.sin(2 * np.pi * np.arange(3000) * 300 / 86_400)
    made = {name: wandering(rng, 3000, 0.7) + 3 * day + np.linspace(0, 9, 3000) for name in ("a", "b", "c")}
    series = table(**made, lost=made["a"] + day + wandering(rng, 3000, 0.7) + np.linspace(0, 3, 3000))
    assert couplings(Series(series.names, series.values, 300.0), WAYS).couplings == ()


def test_what_follows_exactly_from_the_declared_causes_is_no_coupling() -> None:
    """x' = 0.9 x + w - c without noise: w of the step before is a function of x and c, and explains nothing."""
    rng = np.random.default_rng(7)
    w, c = wandering(rng, 2000, 0.5), wandering(rng, 2000, 0.5)
    x = np.zeros(2000)
    for t in range(1, 2000):
        x[t] = 0.9 * x[t - 1] + w[t - 1] - c[t - 1]
    ways = graph(late("x", "x"), late("w", "x"), late("c", "x"), Influence("x", "c"))
    assert couplings(table(x=x, w=w, c=c), ways).couplings == ()


def test_beside_a_step_only_signals_of_another_origin_are_tested() -> None:
    """busy = 1 where load > 2: what a line leaves of a step has to do with every other function of load."""
    rng = np.random.default_rng(8)
    load, other = wandering(rng, 4000, 0.5) + 2, wandering(rng, 4000, 0.5)
    busy, cost = np.where(load > 2, 1.0, 0.0), np.abs(load - 2) + 0.1 * wandering(rng, 4000, 0.5)
    ways = graph(Influence("load", "busy"), Influence("load", "cost"))
    bent = CausalGraph(ways.nodes, ways.influences, curved=frozenset({"busy", "cost"}))
    series = table(load=load, busy=busy, cost=cost + 0.3 * np.roll(other, 1), other=other)
    assert [(one.cause, one.effect, one.lag) for one in couplings(series, bent).couplings] == [("other", "cost", 1)]


@pytest.mark.parametrize("columns", [1, 3])
def test_the_screen_is_the_ordinary_t_test(columns: int) -> None:
    """A second way: least squares by numpy, and its textbook standard errors."""
    rng = np.random.default_rng(columns)
    x = rng.normal(0, 1, (300, columns + 1))  # one column that does not belong to the pair
    y = x[:, 0] - 0.2 * x[:, columns] + rng.normal(0, 1, 300)
    rows = np.column_stack([y, x])
    mine = x[:, :columns]
    slopes, rest, *_ = np.linalg.lstsq(mine, y, rcond=None)
    variance = float(rest[0]) / 290 * np.diag(np.linalg.inv(mine.T @ mine))
    block = list(range(1, columns + 1))
    alone, nothing, again = largest_of_blocks(rows.T @ rows, [block, [], block], 290)
    assert alone == again == pytest.approx((slopes**2 / variance).max())
    assert nothing == 0


def test_accounts_of_the_same_requests_are_no_couplings_and_are_counted() -> None:
    rng = np.random.default_rng(1)
    tries = wandering(rng, 3000, 0.6)
    series = table(
        a=wandering(rng, 3000, 0.7),
        lost=wandering(rng, 3000, 0.5),
        served=tries,
        present=tries + 0.1 * wandering(rng, 3000, 0.5),
    )
    ways = graph(Influence("a", "lost"), Influence("a", "served"))
    plain, known = (
        couplings(series, ways),
        couplings(series, ways, accounts={"served": frozenset("qr"), "present": frozenset("rs")}),
    )
    assert {pair.cause for pair in plain.couplings} == {"present"}
    assert not known.couplings
    assert (known.accounts, known.tests + known.accounts) == (1, plain.tests)
    assert (
        couplings(series, ways, accounts={"served": frozenset("q"), "present": frozenset("r")}).couplings
        == plain.couplings
    )


@pytest.mark.parametrize("seed", range(3))
def test_of_many_signals_beside_the_design_the_same_are_found_as_of_few(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second way: all signals in one table of sums, each pair estimated with its interval."""
    rng = np.random.default_rng(seed)
    series = noisy(seed, 0.3)
    more = {f"m{k}": wandering(rng, len(series), 0.6) for k in range(30)}
    more["gaps"] = np.where(rng.random(len(series)) < 0.01, np.nan, series["lost"] + wandering(rng, len(series), 0.3))
    more["still"] = np.ones(len(series))
    more["copy"] = 2 * series["a"]
    wide = table(**{name: series[name] for name in series.names}, **more)
    accounts = {"lost": frozenset("q"), "m0": frozenset("qr"), "m1": frozenset("r")}
    few = couplings_module.tested(wide, WAYS, accounts)
    monkeypatch.setattr(couplings_module, "MOST_BESIDE", 5)
    monkeypatch.setattr(couplings_module, "PACK", 4)
    many = couplings_module.tested(wide, WAYS, accounts)
    assert (many.tests, many.accounts) == (few.tests, few.accounts)
    assert few.accounts == 1
    assert {(one.cause, one.effect, one.lag) for one in many.couplings} == {
        (one.cause, one.effect, one.lag) for one in few.couplings
    }
    assert {"n0"} <= {one.cause for one in many.couplings}


def test_gaps_of_signals_beside_the_design_hide_no_coupling() -> None:
    """A third of 60 signals misses one value of a hundred: few rows are complete, of each signal nearly all."""
    rng = np.random.default_rng(5)
    others = {f"n{k}": wandering(rng, 2000, 0.9) for k in range(60)}
    first = wandering(rng, 2000, 0.7)
    lost = 0.8 * first + wandering(rng, 2000, 0.9) + 0.4 * np.roll(others["n0"], 1) + 0.3 * np.roll(others["n1"], 2)
    for k in range(0, 60, 3):
        others[f"n{k}"][rng.random(2000) < 0.01] = np.nan
    found = couplings_module.tested(table(a=first, lost=lost, **others), graph(Influence("a", "lost")), {})
    assert [(each.cause, each.effect, each.lag) for each in found.couplings] == [("n0", "lost", 1), ("n1", "lost", 2)]
