"""Promises over plants whose load comes in bursts, beside a plain simulation of each beginning."""

from __future__ import annotations

import operator
import random
from fractions import Fraction

import pytest

from coherence.verify.promises.decisions import Open, Outcome, Proved, Refuted, decide
from tests.draws import seeds
from tests.verify.promises.plants import model_of

F = Fraction
# a queue that is served more slowly where it is long, and may be full
QUEUE = """coherence: 1
workload:
  load: {{rate: {rate} req/s, arrivals: regular, burst: {{rate: {peak} req/s, lasts: {lasts} s{every}}}}}
components:
  db: {{served: "{fast} req/s if queue.waiting < {many} req else {slow} req/s"}}
  queue:
    state: "waiting' = min({room} req, max(0 req, waiting + (load.attempts - db.served) * 1 s))"
    step: 1 s
    from: {start} req
promises: {{p: "{kind} queue.waiting {op} {limit} req"}}
"""
BUCKET = """coherence: 1
workload:
  load: {{rate: {rate} req/s, burst: {{rate: {peak} req/s, lasts: {lasts} s{every}}}}}
components:
  gate: {{uses: token_bucket, rate: {refill} req/s, burst: {size} req, arrivals: load.attempts}}
promises: {{p: "{promise}"}}
"""
KINDS = ("always", "never", "eventually", "eventually_always")


def drawn(rng: random.Random) -> dict[str, object]:
    return {
        "rate": rng.randint(0, 6), "peak": rng.randint(4, 20), "lasts": F(rng.randint(1, 10), 2),
        "again": rng.choice((None, None, rng.randint(6, 25))), "fast": rng.randint(2, 10), "slow": rng.randint(0, 6),
        "many": rng.randint(5, 40), "room": rng.choice((30, 60, 1000)), "start": rng.randint(0, 20),
        "kind": rng.choice(KINDS), "op": rng.choice(("<=", ">", "<")), "limit": rng.randint(0, 45),
    }  # fmt: skip


def answer(text: str) -> Outcome:
    model = model_of(text)
    return decide(model, model.promises["p"], time_limit=20)


def text_of(facts: dict[str, object]) -> str:
    again = facts["again"]
    every = "" if again is None else f", every: {again} s"
    lasts = float(facts["lasts"])  # type: ignore[arg-type]
    return QUEUE.format(**{**facts, "lasts": lasts}, every=every)


def keeps(facts: dict[str, object], first: Fraction, seconds: int = 700) -> bool:
    """Steps the queue by hand, with a burst that begins at a time; what comes for ever is that of the last 150 s."""
    lasts, again = facts["lasts"], facts["again"]
    number = {key: value for key, value in facts.items() if isinstance(value, int)}
    waiting, seen = number["start"], [number["start"]]
    for second in range(seconds):
        since = second - first
        if again is not None and since >= 0:
            since %= F(number["again"])
        rate = number["peak"] if 0 <= since < lasts else number["rate"]  # type: ignore[operator]
        served = number["fast"] if waiting < number["many"] else number["slow"]
        waiting = min(number["room"], max(0, waiting + rate - served))
        seen.append(waiting)
    compare = {"<=": operator.le, ">": operator.gt, "<": operator.lt}[str(facts["op"])]
    truths = [compare(x, number["limit"]) for x in seen]
    return {"always": all(truths), "never": not any(truths), "eventually": any(truths),
            "eventually_always": all(truths[-150:])}[str(facts["kind"])]  # fmt: skip


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_each_beginning_of_a_burst_does_as_it_is_said(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    facts = drawn(rng)
    found = answer(text_of(facts))
    firsts = [F(k, 8) for k in range(24)] + [F(rng.randint(0, 800), 8) for _ in range(16)]
    kept = {keeps(facts, first) for first in firsts}
    if isinstance(found, Proved):
        assert kept == {True}
    elif isinstance(found, Refuted):
        assert False in kept
        assert not found.certainty.certain or kept == {False}
    else:
        assert isinstance(found, Open)


def lowest_level(rate: int, peak: int, lasts: Fraction, refill: int, size: int, again: int | None) -> Fraction:
    """Returns the least content of a bucket that starts full, from burst to burst until it recurs."""
    level = least = F(size)
    for _ in range(1 if again is None else 400):
        level = max(F(0), min(F(size), level + (refill - peak) * lasts))
        least = min(least, level)
        calm = F(0) if again is None else again - lasts
        level = max(F(0), min(F(size), level + (refill - rate) * calm))
        least = min(least, level)
    return least


@pytest.mark.parametrize("seed", range(12))
def test_a_bucket_holds_what_is_left_of_its_bursts(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(4):
        refill, size = rng.randint(5, 20), rng.randint(10, 60)
        rate, peak = rng.randint(0, refill), rng.randint(5, 40)
        lasts, again = F(rng.randint(1, 12), 2), rng.choice((None, rng.randint(7, 30)))
        every = "" if again is None else f", every: {again} s"
        facts = {"rate": rate, "peak": peak, "lasts": float(lasts), "every": every, "refill": refill, "size": size}
        least = lowest_level(rate, peak, lasts, refill, size, again)
        for limit in (least - F(1, 4), least, least + F(1, 4)):
            found = answer(BUCKET.format(**facts, promise=f"never gate.level < {float(limit)} req"))
            if limit <= least:
                assert isinstance(found, Proved)
            elif limit <= size:
                assert isinstance(found, Refuted)
                assert found.certainty.certain
        refused = answer(BUCKET.format(**facts, promise="never gate.refused > 0 req/s"))
        assert isinstance(refused, Refuted if not least and max(rate, peak) > refill else Proved)


def test_two_loads_with_bursts_are_no_proof() -> None:
    text = QUEUE.format(rate=1, peak=5, lasts=2, every="", fast=20, slow=20, many=5, room=90, start=0, kind="always",
                        op="<=", limit=5)  # fmt: skip
    assert isinstance(answer(text), Proved)
    both = text.replace("workload:\n", "workload:\n  other: {rate: 1 req/s, burst: {rate: 4 req/s, lasts: 2 s}}\n")
    found = answer(both.replace("load.attempts -", "load.attempts + other.attempts -"))
    assert isinstance(found, Open)
    assert "other" in found.reason


@pytest.mark.parametrize("stated", ["rate: 5 req/s, lasts: 1 s .. 2 s", "rate: 4 req/s .. 5 req/s, lasts: 2 s"])
def test_a_range_of_bursts_is_no_proof(stated: str) -> None:
    text = QUEUE.format(rate=1, peak=5, lasts=2, every="", fast=20, slow=20, many=5, room=90, start=0, kind="always",
                        op="<=", limit=5)  # fmt: skip
    found = answer(text.replace("rate: 5 req/s, lasts: 2 s", stated))
    assert isinstance(found, Open)
    assert "ranges" in found.reason
