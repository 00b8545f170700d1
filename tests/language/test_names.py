"""Names: near misses of what is declared are errors, everything else that is undeclared is outside."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import Problem
from coherence.language import names
from coherence.language.design import Design
from coherence.language.reading import read_text
from tests.strategies import problems_in

PLANT = """\
coherence: 1
workload: {requests: {rate: 5 req/s}}
components:
  power: {state: "p' = 0.8 * p + 0.2 * (base + batch.load)", step: 1 s, from: 0 kW .. 60 kW, base: 10 kW}
  pool: {takes: {start: 60 s}, ready: desired - 1, size: 3}
  spare: {size: 4}
loops:
  throttle: {trigger: p > 80 kW, actuation: {signal: batch.load, law: step, by: -20 kW}}
  scaler: {trigger: not throttle and pool.ready > 2, actuation: {signal: pool.desired, law: step, by: 1}}
"""


def read(text: str) -> Design:
    """The design in a text."""
    return read_text(text, "d.yaml")


def problems(extra: str) -> tuple[Problem, ...]:
    """What is wrong with the plant and something more."""
    return problems_in(lambda: read(PLANT + extra))


def test_what_a_bare_name_means_where_one_component_has_it() -> None:
    design = read(PLANT)
    assert names.bare_names(design) == {
        "base": "power.base",
        "p": "power.p",
        "ready": "pool.ready",
        "start": "pool.start",
        "desired": "pool.desired",
    }
    assert names.resolve("p", design) == "power.p"
    assert names.resolve("power.p", design) == "power.p"
    assert names.resolve("throttle", design) == "throttle"
    assert names.resolve("size", design) == "size"


def test_the_name_of_a_loop_is_the_loop_and_not_a_signal_that_is_called_so() -> None:
    design = read(PLANT.replace("throttle", "p").replace("trigger: p >", "trigger: power.p >"))
    assert "p" not in names.bare_names(design)
    assert names.resolve("p", design) == "p"


def test_a_loop_is_no_number_and_the_signals_that_are_called_so_are_offered() -> None:
    found = problems_in(lambda: read(PLANT.replace("throttle", "p")))
    assert [(p.message, p.remedy) for p in found] == [
        ("'p' is a loop, true while it acts; a number is expected", "write power.p")
    ]


def test_a_component_sees_its_own_members_first() -> None:
    design = read("coherence: 1\ncomponents: {a: {x: 1, y: x + 1}, b: {x: 2, y: x + 1}}\n")
    assert names.scope(design.components["b"], design)["x"] == "b.x"
    assert names.scope(design.components["a"], design)["x"] == "a.x"


def test_what_is_declared_by_every_section() -> None:
    design = read(
        "coherence: 1\nworkload: {w: {}}\ninfrastructure: {tiers: {t: {}}, boundaries: {o: {around: [t]}}}\n"
        "components: {c: {}}\nloops: {l: {}}\ntimers: {z: {}}\nlimits: {m: {}}\njobs: {j: {}}\nplaces: {n: {}}\n"
        "calls: [{from: a, to: b}]\n"
    )
    assert names.things(design) == set("wtoclzmjnab")


@pytest.mark.parametrize(
    ("line", "message", "remedy"),
    [
        ("promises: {a: powr.p > 1}", "'powr' is not declared", "did you mean 'power'?"),
        ("promises: {a: throtle}", "'throtle' names nothing in this design", "did you mean 'throttle'?"),
        ("promises: {a: readyy > 1}", "'readyy' names nothing in this design", "did you mean 'ready'?"),
        ("promises: {a: elsewhere > 1}", "'elsewhere' names nothing", "write thing.signal"),
        ("promises: {a: size > 1}", "'size' is in pool and spare", "write pool.size"),
        ("promises: {a: pool.redy > 1}", "'pool' has no signal 'redy'", "did you mean 'pool.ready'?"),
        ("promises: {a: never thorttle}", "'thorttle' names nothing", "did you mean 'throttle'?"),
        ("limits: {a: {counts: requets.retries, at_most: 3}}", "'requets' is not declared", "did you mean 'requests'?"),
        ("timers: {t: {from: pol starts, after: 3 s}}", "", ""),
        ("timers: {scheduled: {from: schedule starts, after: 3 s}}", "", ""),
        ("timers: {lease: {from: a starts, after: 3 s}, t: {from: lese starts, after: 3 s}}", "'lese' is", "'lease'?"),
        ("timers: {t: {from: poool starts, after: 3 s}}", "'poool' is not declared", "did you mean 'pool'?"),
        ("claims: {h: pool.desired + spre.size}", "'spre' is not declared", "did you mean 'spare'?"),
    ],
)
def test_near_misses_are_errors(line: str, message: str, remedy: str) -> None:
    found = problems(line + "\n")
    assert [(message in p.message, remedy in p.remedy) for p in found] == [(True, True)] * bool(message)
    assert all(p.place.line == 10 for p in found)


def test_a_near_miss_in_what_a_loop_writes_and_in_a_plant() -> None:
    again = "  again: {trigger: p > 3 kW, actuation: {signal: poool.desired}}\n"
    assert [p.message for p in problems(again)] == ["'poool' is not declared"]
    told = [p.message for p in problems_in(lambda: read(PLANT.replace("(base +", "(bass +")))]
    assert told == ["'bass' names nothing in this design"]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("p = 3", "is not a plant"),
        ("p' = 3 +", "a value expected, the end found"),
        ("p' == 3", "'=' is not used in expressions"),
        ("P' = 3", "is not a plant"),
    ],
)
def test_a_malformed_plant_is_a_mistake_of_the_input(state: str, message: str) -> None:
    text = f'coherence: 1\ncomponents: {{a: {{state: "{state}"}}}}\n'
    found = problems_in(lambda: read(text))
    assert any(message in p.message and p.remedy for p in found)
    assert {p.place.line for p in found} == {2}


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("powr", "power", True),
        ("pwoer", "power", True),
        ("powers", "power", False),  # a plural
        ("pool2", "pool", False),  # a number
        ("pools", "pool", False),
        ("web", "wep", False),  # too short to tell
        ("gateway", "gatewya", True),
        ("gatewayz", "gatwaya", False),
        ("autoscaler", "autoscalar", True),
        ("autoscaler", "outoscalar", True),
        ("autoscaler", "outoscalerr", True),
        ("autoscaler", "outoscalorr", False),
        ("h100", "h200", False),
    ],
)
def test_what_counts_as_a_slip(word: str, known: str, near: object) -> None:
    assert (names.nearest(word, [known]) == known) == near


def test_outside_things_are_listed_in_order_of_use() -> None:
    design = read(PLANT + "promises: {a: web.load > 1, b: cache.used < 3}\n")
    assert set(names.outside(design)) == {"batch", "web", "cache"}


def test_things_that_are_only_counted_need_no_declaration() -> None:
    assert not problems(
        "limits: {a: {counts: tries in flight, at_most: 3}, b: {counts: count of pod by node, at_most: 2}}\n"
    )


def reference(one: str, other: str) -> int:
    """Optimal string alignment, from its recurrence."""
    cost = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            options = [cost[i - 1, j] + 1, cost[i, j - 1] + 1, cost[i - 1, j - 1] + (one[i - 1] != other[j - 1])]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                options.append(cost[i - 2, j - 2] + 1)
            cost[i, j] = min(options)
    return cost[len(one), len(other)]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(1, 3))
def test_the_distance_is_right_up_to_its_limit(one: str, other: str, limit: int) -> None:
    assert names.distance(one, other, limit) == min(reference(one, other), limit + 1)


def test_thousands_of_names_are_checked_without_delay() -> None:
    loops = "\n".join(f"  k{i}: {{actuation: {{signal: a{i}.b}}}}" for i in range(2000))
    start = time.thread_time()
    read(f"coherence: 1\nloops:\n{loops}\n")
    assert time.thread_time() - start < 10
