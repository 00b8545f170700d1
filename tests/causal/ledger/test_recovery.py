"""Recovery: arithmetic of f, the sum of Shapley values, and a small retry system that is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.ledger.capacity import capacity, fleet
from coherence.causal.ledger.recovery import Off, RecoveryLosses, recovery
from coherence.causal.ledger.report import recovery_json
from coherence.simulate.requests.engine import RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station
from tests.causal.attribution.orders import by_orders


def test_a_fifth_off_gives_a_quarter_more() -> None:
    """f = 0.2: +25 %, not +20 %."""
    found = recovery(["retries"], lambda off: 100.0 if off else 80.0, nominal=120)
    gain = found["retries",]
    assert gain.share == pytest.approx(0.2)
    assert gain.ratio == pytest.approx(0.25)
    assert gain.recovered.value == pytest.approx(gain.share / (1 - gain.share) * found.effective.value)
    assert gain.recovered.low == -np.inf, "one run tells no interval"
    assert not found.violations


def test_more_than_nominal_refutes_the_rates() -> None:
    found = recovery(["a", "b"], lambda off: 80.0 + 25 * len(off), nominal=120)
    assert len(found.violations) == 1
    assert "with a, b off 130" in found.violations[0]


def test_shapley_values_add_up_and_are_those_of_every_order() -> None:
    random = np.random.default_rng(3)
    names = ["a", "b", "c", "d"]
    table: dict[Off, float] = {}

    def reached(off: Off) -> float:
        return table.setdefault(off, float(random.uniform(10, 90)))

    found = recovery(names, reached, nominal=100)
    everything = table[frozenset(names)] - table[frozenset()]
    assert sum(one.value for one in found.shapley.values()) == pytest.approx(everything, rel=1e-12)
    orders = by_orders(lambda players: table[frozenset(names[p] for p in players)], 4)
    assert [one.value for one in found.shapley.values()] == pytest.approx(orders)
    assert len(found.gains) == 15


def test_a_gain_may_be_a_loss() -> None:
    """A faster tick that made things worse is told, not refused."""
    found = recovery(["tick"], lambda off: [70.0, 71.0] if off else [80.0, 80.5], nominal=100)
    assert found["tick",].recovered.value == pytest.approx(-9.75)
    assert found["tick",].ratio < 0


def test_what_is_asked_for() -> None:
    with pytest.raises(UsageError, match="13 sources"):
        recovery([f"s{i}" for i in range(13)], lambda _: 1.0, nominal=2)
    with pytest.raises(UsageError, match="with a off is"):
        recovery(["a"], lambda off: float("nan") if off else 1.0, nominal=2)
    with pytest.raises(UsageError, match="each seed"):
        recovery(["a"], lambda off: [1.0] if off else [1.0, 2.0], nominal=2)
    with pytest.raises(UsageError, match="different names"):
        recovery(["a", "a"], lambda _: 1.0, nominal=2)


# -- a retry system ----------------------------------------------------------------------------------

SEEDS, UNTIL = (1, 2, 3, 4), 150.0
RATE, SERVERS = 10.0, 5


@cache
def run(off: Off, seed: int) -> RequestResult:
    """Five servers of 10 requests a second each, 42 a second asked for, an outage of 4 s, then recovery, or not.

    Callers leave after 0.6 s and try twice; the server does not know that they left (zombies).
    """
    program = Program(
        (Source("web", Arrivals("poisson", rate=42.0), (("call",),)),),
        (Station("pool", SERVERS, Service(1 / RATE, "exponential")),),
        (
            Route(
                "call", "pool", tries=1 if "retries" in off else 2, per_try=0.6, retry_on=("timeout",),
                cancel="zombies" in off,
            ),
        ),
        (Outage("pool", 30.0, 4.0),),
    )  # fmt: skip
    return simulate(program, seed=seed, until=UNTIL, trace=not off)


def goodput(off: Off) -> list[float]:
    return [run(off, seed).counters["web.completed"] / UNTIL for seed in SEEDS]


def booked() -> Mapping[str, float]:
    """What a ledger books on retries: service of tries after the first.  The queue is first come, first served, so the
    tries that were served are the first that were sent; a retry's service is booked whole, even where it was useful."""
    shares = []
    for seed in SEEDS:
        result = run(frozenset(), seed)
        assert result.trace is not None
        sent = result.trace.number[np.isin(result.trace.action, (0,))]
        served = sent[: result.counters["call.served"]]
        shares.append(float((served > 1).mean()) * result.work["pool.busy_seconds"] / UNTIL * RATE)
    return {"retries": float(np.mean(shares))}


def measured() -> RecoveryLosses:
    given = fleet({"server": SERVERS}, {"server": {"web": RATE}}, {"web": 1})
    return recovery(["retries", "zombies"], goodput, nominal=capacity(given).value, ledger=booked())


def test_retries_cause_more_than_the_ledger_books_on_them() -> None:
    found = measured()
    retries = found["retries",]
    assert retries.amplification.low > 1, "switching retries off wins more than the time that retries take"
    assert retries.reached.value <= found.nominal == 50
    assert not found.violations


def test_gains_do_not_add() -> None:
    """Retries off, or zombies off, each win nearly everything; both together win no more."""
    found = measured()
    alone = found["retries",].recovered.value + found["zombies",].recovered.value
    both = found["retries", "zombies"].recovered.value
    assert found.overlap.low > 0.5 * both
    assert found.overlap.value == pytest.approx(alone - both)
    assert sum(one.value for one in found.shapley.values()) == pytest.approx(both, rel=1e-12)
    told = json.loads(json.dumps(recovery_json(found), allow_nan=False))
    assert told["shapley"]["retries"]["interval"][0] < told["shapley"]["retries"]["value"]
