"""Units in expressions: what is added, compared or written must have one dimension, and truth is no number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import Problem
from coherence.base.units import UNITS, unit
from coherence.language.reading import read_text
from tests.strategies import problems_in

DESIGN = """\
coherence: 1
workload: {requests: {rate: 120 req/s}}
components:
  power: {state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 60 kW}
  pool: {takes: {start: 60 s .. 120 s}, size: 3 replicas, speed: 25 req/s, wait: 3 s, zero: 0}
loops:
  scaler: {trigger: pool.wait > 1 s, actuation: {signal: pool.desired, by: 1, bounds: [1 replica, 9 replicas]}}
"""


def problems(extra: str) -> tuple[Problem, ...]:
    """What is wrong with the design and one more line."""
    return problems_in(lambda: read_text(DESIGN + extra + "\n", "d.yaml"))


@pytest.mark.parametrize(
    "condition",
    [
        "pool.wait > 500 ms",
        "pool.wait > 0",
        "pool.size + 1 > 2 replicas",
        "pool.size * 2 > 5",
        "requests.rate / pool.speed > 3",
        "requests.rate * 3 s > 5 req",
        "requests.rate > 5 Hz",
        "p > 80 kW and p < 90 kW",
        "web.load > 3 kW and web.load > 3 s",  # an outside thing may be anything
        "min(p, 5 kW) > 0",
        "delayed(p, 3 s) > 5 kW",
        "rate_of(p) > 5 W/s",
        "(p if scaler else 3 kW) > 1 W",
        "25 % of p > 1 kW",
        "abs(p - 3 kW) > 1 kW",
        "pool.desired > 3",
        "pool.zero > 3 kW",
        "scaler and not scaler or true",
        "(p > 1 kW) == scaler",
        "(1 if p > 3 kW else 0) + 1 > 1",
        "p * p > 3 W*W",
        "pool.start > 3 min",
    ],
)
def test_what_fits(condition: str) -> None:
    assert not problems(f"promises:\n  a: {condition}")


@pytest.mark.parametrize(
    ("condition", "message", "column"),
    [
        ("p > 80 s", "'80 s' (s) is compared with 'p' (W)", 6),
        ("p > 80", "'80' (a bare number) is compared with 'p' (W)", 6),
        ("p + 3 s > 1 kW", "'3 s' (s) is added to 'p' (W)", 6),
        ("p - pool.wait > 1 kW", "'pool.wait' (s) is subtracted from 'p' (W)", 6),
        ("pool.size > 5 req", "'5 req' (req) is compared with 'pool.size' (replica)", 6),
        ("requests.rate > 5 req", "'5 req' (req) is compared with 'requests.rate' (req/s)", 6),
        ("min(p, 3 s, 2 kW) > 0", "'3 s' (s) is compared with 'p' (W)", 6),
        ("(p if scaler else 3 s) > 0", "'3 s' (s) is an alternative to 'p' (W)", 7),
        ("delayed(p, 3 s) > 5 s", "'5 s' (s) is compared with 'delayed(p, 3 s)' (W)", 6),
        ("rate_of(p) > 5 W", "is compared with 'rate_of(p)' (W/s)", 6),
        ("web.x > 1 and p * p > 3 W", "'3 W' (W) is compared with 'p * p' (W^2)", 20),
        ("1 > 0 and 5", "'5' is a number, a condition is expected", 16),
        ("not p", "'p' is a number, a condition is expected", 10),
        ("(p > 1 kW) + 1 > 2", "'p > 1 kW' is a condition, a number is expected", 7),
        ("min(p > 1 kW, 2) > 1", "'p > 1 kW' is a condition, a number is expected", 10),
        ("(p > 1 kW) == 1", "'p > 1 kW' is a condition, a number is expected", 7),
        ("1 > (true)", "'true' is a condition, a number is expected", 11),
        ("scaler > 3", "'scaler' is a loop, true while it acts; a number is expected", 6),
        ("p > 3 kW * scaler", "'scaler' is a loop, true while it acts; a number is expected", 17),
        ("scaler == 1", "'scaler' is a loop, true while it acts; a number is expected", 6),
        ("min(p, scaler) > 0 W", "'scaler' is a loop, true while it acts; a number is expected", 13),
        ("3 > 1 if p else 2 > 1", "'p' is a number, a condition is expected", 15),
        ("p for 3 s", "'p' is a number, a condition is expected", 6),
        ("p", "'p' is a number, a condition is expected", 6),
    ],
)
def test_what_does_not_fit_is_shown_where_it_stands(condition: str, message: str, column: int) -> None:
    found = problems(f"promises:\n  a: {condition}")
    assert any(message in p.message and p.place.column == column and p.remedy for p in found), [str(p) for p in found]
    assert all(p.place.line == 9 for p in found)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("  a: {target: {signal: p, setpoint: 3 s}}", "the setpoint 3 s is s, the signal p is W"),
        ("  a: {actuation: {signal: pool.desired, by: 3 s}}", "3 s is s, pool.desired is replica"),
        ("  a: {actuation: {signal: pool.desired, law: set, to: 3 kW}}", "3 kW is W, pool.desired is replica"),
        ("  a: {actuation: {signal: pool.desired, from: 3 kW}}", "3 kW is W, pool.desired is replica"),
        ("  a: {actuation: {signal: pool.desired, bounds: [1 s, 3 s]}}", "1 s is s, pool.desired is replica"),
        ("  a: {rules: [{when: p > 1 kW, by: 3 s}], actuation: {signal: pool.desired}}", "3 s is s, pool.desired"),
        ("  a: {trigger: p}", "'p' is a number, a condition is expected"),
        ("  a: {trigger: {enter: p > 1 s, leave: p < 1 kW}}", "'1 s' (s) is compared with 'p' (W)"),
        ("  a: {rules: [{when: 5}]}", "'5' is a number, a condition is expected"),
        ("limits: {a: {counts: p, at_most: 3}}", ""),
        ("limits: {a: {counts: p, at_most: 3 kW}}", ""),
        ("limits: {a: {counts: p, at_most: 3 s}}", "p is W, the limit is s"),
        ("limits: {a: {counts: p, at_most: 3 kW, window: 1 s}}", ""),
        ("limits: {a: {counts: p, at_most: 3 MB, window: 1 s}}", "p is W, the limit is B"),
        ("limits: {a: {counts: pool.copies, at_most: 3 s}}", "pool.copies is a bare number, the limit is s"),
        ("limits: {a: {counts: pool.requests in flight, at_most: 3 GB}}", "is a bare number, the limit is B"),
        ("limits: {a: {counts: count of pool by node, at_most: 3 s}}", "is a bare number, the limit is s"),
        ("claims: {h: p + pool.wait}", "'pool.wait' (s) is added to 'p' (W)"),
    ],
)
def test_what_loops_read_and_write_has_the_dimension_of_its_signal(line: str, message: str) -> None:
    found = problems(line)
    assert [message in p.message for p in found][:1] == [True] * bool(message), [str(p) for p in found]


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        ('{state: "q\' = 0.8 * q + 3 s", step: 1 s, from: 1 kW}', "'3 s' (s) is added to"),
        ('{state: "q\' = 3 kW/s", step: 1 s, from: 1 kW}', "the next value is W/s, W expected"),
        ('{state: "q\' = 3 kW", from: 1 kW}', "the derivative is W, W/s expected"),
        ('{state: "q\' = 3 kW/s", from: 1 kW}', ""),
        ('{state: "q\' = 3 kW", step: 1 s, from: 1 kW}', ""),
        ('{state: "q\' = 3 kW", step: 1 s, from: 0}', ""),
    ],
)
def test_a_plant_keeps_its_dimension(plant: str, message: str) -> None:
    found = problems_in(lambda: read_text(f"coherence: 1\ncomponents: {{a: {plant}}}\n", "d.yaml"))
    assert [message in p.message for p in found] == [True] * bool(message), [str(p) for p in found]


def test_a_name_inside_a_component_is_its_own() -> None:
    text = "coherence: 1\ncomponents: {a: {x: 1 s, y: x + 1 s}, b: {x: 1 kW, y: x + 1 kW}}\n"
    assert not problems_in(lambda: read_text(text))
    wrong = problems_in(lambda: read_text(text.replace("y: x + 1 kW", "y: x + 1 s")))
    assert [p.message for p in wrong] == ["'1 s' (s) is added to 'x' (W)"]


def test_nested_functions_are_looked_at_once() -> None:
    inner = "p"
    for _ in range(30):
        inner = f"min({inner}, 3 s)"
    found = problems(f"promises:\n  a: {inner} > 1 kW")
    assert len(found) == 30


@settings(max_examples=100)
@given(st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
def test_two_constants_add_exactly_when_their_units_fit(one: str, other: str) -> None:
    text = f"coherence: 1\ncomponents: {{a: {{x: 1 {one}, y: 1 {other}}}}}\nclaims: {{c: a.x + a.y}}\n"
    fits = unit(one)[1].fits(unit(other)[1])
    assert bool(problems_in(lambda: read_text(text))) != fits


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("counts: attempts(api), at_most: 60, window: 10 s", ""),
        ("counts: attempts(api), at_most: 60 req, window: 10 s", ""),
        ("counts: attempts(api), at_most: 60 req/s, window: 10 s", "attempts(api) is a bare number"),
        ("counts: api.requests, at_most: 60 req/s", "api.requests is a bare number, the limit is req/s"),
        ("counts: web.attempts, at_most: 60 req/min, window: 1 min", "web.attempts is a bare number"),
        ("counts: web.attempts, at_most: 60 req/s", ""),
        ("counts: attempts(api), at_most: 30 GB, window: 1 s", "attempts(api) is a bare number, the limit is B"),
    ],
)
def test_what_is_sent_in_a_window_is_a_count(limit: str, message: str) -> None:
    text = "coherence: 1\nworkload: {web: {rate: 40 req/s}}\ncomponents: {api: {copies: 3}}\n"
    text += f"calls: [{{from: web, to: api}}]\nlimits: {{q: {{{limit}}}}}\n"
    found = problems_in(lambda: read_text(text))
    assert [message in p.message for p in found] == [True] * bool(message), [str(p) for p in found]
    assert all("write how many may be sent in which time" in p.remedy for p in found)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("used' = 6 GB/s - 4 GB/s * clean.on", "'90 %' (a bare number) is compared with 'disk.used' (B)"),
        ("used' = fill.speed - 4 GB/s * clean.on", "'90 %' (a bare number) is compared with 'disk.used' (B)"),
        ("used' = 6 GB/s / 60 * web.copies", ""),
        ("used' = fill.unknown - clean.on", ""),
    ],
)
def test_a_state_without_a_start_has_the_unit_of_its_derivative(state: str, message: str) -> None:
    text = f'coherence: 1\ncomponents: {{disk: {{state: "{state}"}}, fill: {{speed: 6 GB/s, twice: 2 s}}}}\n'
    text += "promises: {room: always disk.used < 90 %}\n"
    assert [p.message for p in problems_in(lambda: read_text(text))] == [message] * bool(message)
    step = text.replace("state:", "step: 1 s, state:")
    assert [p.message for p in problems_in(lambda: read_text(step))] == [
        message.replace("(B)", "(B/s)") for _ in range(bool(message))
    ]
