"""Runs whose values grow for ever, beside a plain simulation of two plants and a loop."""

from __future__ import annotations

import random

import pytest

from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import long_run
from coherence.verify.promises.decisions import Open, Outcome, Proved, condition_of, decide, part_of
from coherence.verify.promises.drifting_runs import with_drift
from tests.verify.promises.plants import model_of

# x grows by one of two amounts, y by another one or stays at its floor; a loop brings m up to x from time to time
GROWING = """coherence: 1
components:
  a: {{state: "x' = x + ({near} if x < {edge} else {far})", step: 1 s, from: {start}}}
  b: {{state: "y' = max({floor}, y + {rise})", step: 1 s, from: {floor}}}
loops:
  mark:
    timescale: {{period: {period} s, phase: 0 s}}
    trigger: a.x - c.m >= {size}
    actuation: {{signal: c.m, law: set, to: a.x, from: {start}}}
promises: {{p: "{kind} {read} {op} {limit}"}}
"""
KINDS = ("always", "never", "eventually", "eventually_always")
READS = ("a.x", "b.y", "a.x - b.y", "a.x - c.m", "2 * a.x - b.y", "min(a.x, b.y)")


def drawn(rng: random.Random) -> dict[str, object]:
    return {
        "near": rng.randint(-2, 4), "far": rng.randint(-3, 4), "edge": rng.randint(-10, 20),
        "start": rng.randint(-5, 5), "floor": rng.randint(-5, 0), "rise": rng.randint(-2, 4),
        "period": rng.randint(1, 4), "size": rng.randint(1, 12), "kind": rng.choice(KINDS),
        "read": rng.choice(READS), "op": rng.choice(("<=", "<", ">=", ">")), "limit": rng.randint(-20, 40),
    }  # fmt: skip


def answer(facts: dict[str, object]) -> Outcome:
    model = model_of(GROWING.format(**facts))
    return decide(model, model.promises["p"], time_limit=20)


def keeps(facts: dict[str, object], seconds: int = 1500) -> bool:
    """Steps the two plants and the loop by hand; what comes for ever is that of the last 200 s."""
    n = {key: value for key, value in facts.items() if isinstance(value, int)}
    x, y, m, seen = n["start"], n["floor"], n["start"], list[bool]()

    def look() -> None:
        read = {"a.x": x, "b.y": y, "a.x - b.y": x - y, "a.x - c.m": x - m, "2 * a.x - b.y": 2 * x - y,
                "min(a.x, b.y)": min(x, y)}[str(facts["read"])]  # fmt: skip
        limit = n["limit"]
        seen.append({"<=": read <= limit, "<": read < limit, ">=": read >= limit, ">": read > limit}[str(facts["op"])])

    for second in range(seconds):
        look()
        if second % n["period"] == 0 and x - m >= n["size"]:
            m = x
        x, y = x + (n["near"] if x < n["edge"] else n["far"]), max(n["floor"], y + n["rise"])
        look()
    return {"always": all(seen), "never": not any(seen), "eventually": any(seen),
            "eventually_always": all(seen[-200:])}[str(facts["kind"])]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_what_grows_for_ever_does_as_it_is_said(seed: int) -> None:
    facts = drawn(random.Random(seed))  # noqa: S311
    found = answer(facts)
    assert isinstance(found, Open) or isinstance(found, Proved) is keeps(facts)


def test_a_lap_that_nears_an_edge_is_no_drift() -> None:
    facts = {"near": 1, "far": 0, "edge": 10**6, "start": 0, "floor": 0, "rise": 1, "period": 1, "size": 5}
    text = GROWING.format(**facts, kind="eventually_always", read="a.x", op="<=", limit=10)
    model = model_of(text)
    part, condition = part_of(model, model.promises["p"]), condition_of(model, model.promises["p"])
    run = long_run(part, Choices(), laps=50)
    assert run.orbit is None
    assert with_drift(part, run, condition, "eventually_always").drift is None
    away = model_of(text.replace("x < 1000000", "x < 0").replace("else 0", "else 1"))
    part = part_of(away, away.promises["p"])
    drift = with_drift(part, long_run(part, Choices(), laps=50), condition, "always").drift
    assert drift is not None
    assert drift.added["a.x"] == drift.period
    assert set(drift.truths) == {False}
