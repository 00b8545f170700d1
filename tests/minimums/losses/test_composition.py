"""The algebra of floors: sound against executed task systems; a residual below zero names assumptions."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.bound import Quantifier, Status
from coherence.minimums.ladder import ladder
from coherence.minimums.losses.composition import (
    BarrierTerm,
    KnownTerm,
    Leaf,
    Overlap,
    RepeatedTerm,
    Serial,
    Term,
    estimate,
    leaves,
)
from coherence.minimums.losses.decomposition import decomposition
from coherence.minimums.registry import entry
from coherence.minimums.sensitivity import sensitivities, value_of_telemetry

GB = 10**9


def known(low: int, high: int | None = None) -> KnownTerm:
    return KnownTerm(Fraction(low), Fraction(low if high is None else high), "a task")


def exchange(rate: tuple[int, int] = (300, 300)) -> Leaf:
    spans = {"n": (8, 8), "size": (8 * GB, 8 * GB), "bandwidth": (rate[0] * GB, rate[1] * GB)}
    return Leaf(entry("all_reduce_end_point").bound, {k: (Fraction(a), Fraction(b)) for k, (a, b) in spans.items()})


def systems() -> st.SearchStrategy[Term]:
    leaf = st.builds(lambda a, b: known(a, a + b), st.integers(0, 20), st.integers(0, 5))
    factor = st.builds(lambda a, b: known(a, a + b), st.integers(1, 4), st.integers(0, 2))

    def wider(part: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        parts = st.lists(part, min_size=1, max_size=4).map(tuple)
        return st.one_of(
            parts.map(Serial), parts.map(Overlap), parts.map(BarrierTerm), st.builds(RepeatedTerm, part, factor)
        )

    return st.recursive(leaf, wider, max_leaves=12)


def executed(term: Term, draw: random.Random) -> Fraction:
    """How long a run takes: tasks take what they take, waiting and overlap are imperfect."""
    match term:
        case KnownTerm(low=low, high=high):
            return Fraction(low + (high - low) * Fraction(draw.randint(0, 8), 8) + draw.randint(0, 3))
        case Serial(parts=parts):
            return sum((executed(p, draw) + Fraction(draw.randint(0, 1)) for p in parts), Fraction(0))
        case Overlap(parts=parts):  # between full overlap and none
            times = [executed(p, draw) for p in parts]
            return max(times) + (sum(times) - max(times)) * Fraction(draw.randint(0, 4), 4)
        case BarrierTerm(parts=parts):
            return max(executed(p, draw) for p in parts)
        case RepeatedTerm(part=part, factor=factor):
            assert isinstance(factor, KnownTerm)
            return sum((executed(part, draw) for _ in range(int(factor.low) + draw.randint(0, 1))), Fraction(0))
        case _:
            raise AssertionError


@pytest.mark.slow
@given(systems(), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_no_run_is_shorter_than_the_floor(term: Term, seed: int) -> None:
    assert executed(term, random.Random(seed)) >= estimate(term).low  # noqa: S311  (a run of a test)


@given(systems(), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_a_larger_part_never_lowers_the_whole(term: Term, more: int) -> None:
    before, after = estimate(Serial((term,))), estimate(Serial((term, known(more))))
    assert after.low == before.low + more
    assert estimate(Overlap((term, known(more)))).low >= before.low


def test_barriers_follow_jensen() -> None:
    """Two members, mean 1 and 3, each of them once 0 and once twice its mean, independent: E[max] = 3.5 >= 3."""
    outcomes = [max(a, b) for a in (0, 2) for b in (0, 6)]
    assert Fraction(sum(outcomes), 4) >= estimate(BarrierTerm((known(1), known(3)))).low == 3


def test_kinds_become_weaker_and_upper_bounds_are_refused() -> None:
    cost = KnownTerm(Fraction(1), Fraction(1), "ring", Status.CLASS_COST)
    assert estimate(Serial((exchange(), cost))).kind is Status.CLASS_COST
    twice = Serial((replace(exchange(), within="forward"), replace(exchange(), within="backward")))
    assert estimate(twice).kind is Status.THEOREM
    with pytest.raises(UsageError, match="upper bound"):
        estimate(Serial((exchange(), KnownTerm(Fraction(1), Fraction(1), "kingman", Status.UPPER))))
    with pytest.raises(UsageError, match="no floor"):
        decomposition((Fraction(9), Fraction(9)), cost)


def test_the_ladder_tells_what_an_assumption_buys() -> None:
    (rung,) = ladder(exchange().bound, exchange().inputs)
    assert rung.assumption == "end_point_reduction"
    assert rung.bought == pytest.approx(0.75 * 8 / 300, rel=1e-12)
    assert list(leaves(Serial((exchange(), RepeatedTerm(exchange(), known(1)))))) == [exchange(), exchange()]


def test_elasticities_are_exact() -> None:
    bound = entry("all_reduce_end_point").bound
    found = {one.symbol: one for one in sensitivities(bound, {"n": 8, "size": 8 * GB, "bandwidth": 300 * GB})}
    assert found["size"].elasticity == pytest.approx(1)
    assert found["bandwidth"].elasticity == pytest.approx(-1)
    assert found["n"].elasticity == pytest.approx(1 / 7)  # d log((n-1)/n) / d log n = 1/(n-1)
    assert all(one.exact for one in found.values())


def test_the_input_that_is_most_worth_measuring_comes_first() -> None:
    floor = exchange((200, 300))

    def recoverable(spans: dict[str, tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
        rest = decomposition(
            (spans["measured"]), Leaf(floor.bound, {n: spans[n] for n in floor.bound.names})
        ).recoverable
        return Fraction(rest.low), Fraction(rest.high)

    spans = {**floor.inputs, "measured": (Fraction(1, 10), Fraction(101, 1000))}
    best, second = value_of_telemetry(recoverable, spans)  # type: ignore[arg-type]
    assert (best.symbol, second.symbol) == ("bandwidth", "measured")
    assert best.narrowed > second.narrowed > 0


def test_ranges_that_are_empty_and_factors_below_one_are_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        estimate(known(5, 3))
    with pytest.raises(UsageError, match="at least 1"):
        estimate(RepeatedTerm(known(1), KnownTerm(Fraction(1, 2), Fraction(2), "half")))
    with pytest.raises(UsageError, match="below its floor"):
        decomposition((Fraction(9), Fraction(9)), known(5), scheme=known(3))


def leaf(name: str, **changed: int) -> Leaf:
    bound = entry(name).bound
    return Leaf(bound, {symbol: (here, here) for symbol, here in {**bound.examples[0].inputs, **changed}.items()})


@pytest.mark.parametrize(
    ("term", "why"),
    [
        (
            Serial((leaf("all_reduce_end_point"), leaf("pipeline_bubble_share"))),
            "s and share of .* are unlike",
        ),
        (Serial((leaf("checkpoint_overhead"), leaf("restart_share"))), "checkpoints is counted twice"),
        (Serial((leaf("all_reduce_latency"), leaf("all_reduce_end_point"))), "collectives is counted twice"),
        (Serial((leaf("all_gather"), Overlap((leaf("reduce_scatter"), known(1))))), "collectives is counted twice"),
        (RepeatedTerm(leaf("all_gather"), leaf("reduce_scatter")), "an amplification says how often"),
        (RepeatedTerm(leaf("cache_fetches"), leaf("eviction_ratio")), "do not multiply"),
        (RepeatedTerm(leaf("erlang_wait"), leaf("retry_attempts")), "two floors of a mean do not multiply"),
        (Serial((leaf("failover_time"), leaf("recovery_time"))), "two floors of a worst case do not add"),
        (Serial((leaf("failover_time"), leaf("erlang_wait"))), "do not add"),
        (KnownTerm(float("nan"), float("nan"), "a run"), "not NaN"),
    ],
)
def test_unlike_floors_are_refused_with_the_reason(term: Term, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        estimate(term)


def test_two_worst_cases_that_never_meet_beat_the_sum_that_is_refused() -> None:
    """Either of two things is slow, never both: the worst of the sum is 11, less than 10 + 10."""
    runs = [(10, 1), (1, 10)]
    assert max(a + b for a, b in runs) < max(a for a, _ in runs) + max(b for _, b in runs)
    worst = Overlap((leaf("failover_time"), leaf("recovery_time")))
    assert estimate(worst).low == max(estimate(part).low for part in worst.parts)
    assert estimate(worst).quantifier is Quantifier.WORST
