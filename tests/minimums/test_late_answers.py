"""Calls of a design whose callers stop waiting: the share that surely does, beside a run, and where nothing is said."""

from __future__ import annotations

import math
import random

import pytest

from coherence.language.reading import read_text
from coherence.minimums.design_floors import design_floors
from coherence.minimums.registry import entry

DESIGN = """coherence: 1
workload: {{web: {{rate: 3 req/s, service: {{mean: 1 s, cv: {cv}}}}}}}
components: {{pool: {{copies: 4{pool}}}}}
calls:
  - {{from: web, to: pool, {call}}}
"""


def shares(call: str, *, cv: str = "1", pool: str = "") -> list[float]:
    design = read_text(DESIGN.format(call=call, cv=cv, pool=pool))
    found = design_floors(design, [entry("wait_beyond").bound])
    return [float(each.floor.low) for each in found if each.floor]


def by_run(limit: float, *, requests: int = 40_000) -> float:
    """Four servers and one queue, request by request: the share that waits longer."""
    draw, free, now, late = random.Random(7), [0.0] * 4, 0.0, 0  # noqa: S311
    for _ in range(requests):
        now += draw.expovariate(3)
        server = min(range(4), key=free.__getitem__)
        begins = max(now, free[server])
        free[server] = begins + draw.expovariate(1)
        late += begins - now > limit
    return late / requests


def test_the_share_that_waits_beyond_a_timeout_is_that_of_a_run() -> None:
    (share,) = shares("per_try: 1 s, deadline: 5 s, on_timeout: abandon")
    assert share == pytest.approx(0.5094339622641509 * math.exp(-1), rel=1e-9)  # C(4, 3) = 27/53
    assert share == pytest.approx(by_run(1.0), abs=0.02)


@pytest.mark.parametrize(
    "call",
    [
        "per_try: 1 s, on_timeout: cancel",  # late tries leave the queue
        "per_try: 1 s",  # or may
        "per_try: 1 s, on_timeout: abandon, tries: 2",  # tries come in bursts
        "per_try: 1 s, on_timeout: abandon, hedge_after: 200 ms",  # the first of two copies counts
        "per_try: 1 s, on_timeout: abandon, timeout_kind: connect",  # nobody waits for an answer
        "on_timeout: abandon",
    ],
)
def test_nothing_is_said_where_a_wait_is_something_else(call: str) -> None:
    assert shares(call) == []


def test_nothing_is_said_of_other_services_and_orders() -> None:
    late = "per_try: 1 s, on_timeout: abandon"
    assert shares(late, cv="0.5") == []
    assert shares(late, pool=", discipline: lifo") == []
    assert len(shares(late, pool=", discipline: fifo")) == 1


CUT = "workload: {web: {rate: 8 req/s, service: {mean: 1 s, cv: 1, max: 2 s}}}"
QUEUE = """coherence: 1
workload: {web: {rate: 8 req/s, service: {mean: 1 s, cv: 1}}}
components: {pool: {copies: 10}}
calls: [{from: web, to: pool, tries: 1, per_try: 1 s, on_timeout: abandon}]
"""


def edited(old: str, new: str) -> str:
    assert old in QUEUE
    return QUEUE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "said", "load"),
    [
        (QUEUE, "", True),
        (edited(QUEUE.splitlines()[1], CUT), "services are cut at 2 s", False),
        (edited("cv: 1}", "cv: 1, law: lognormal}"), "services are lognormal", True),
        (edited("service:", "burst: {rate: 20 req/s, lasts: 1 s}, service:"), "burst of web", True),
        (edited("service:", "deadline: 3 s, service:"), "deadline of web", False),
        (edited("copies: 10", "copies: 10, rate_per_copy: 2 req/s"), "rate_per_copy of pool", False),
        (QUEUE + "limits: {few: {counts: pool.waiting, at_most: 3 req, when_full: reject}}", "limits few", False),
        (QUEUE + "limits: {few: {counts: attempts(pool), at_most: 2, window: 1 s, when_full: reject}}", "few", False),
        (QUEUE + "timers: {stuck: {from: pool hangs, after: 2 s, then: restart pool}}", "timers stuck", False),
        (
            edited("copies: 10", "copies: 1..40")
            + "loops: {more: {timescale: {period: 9 s}, trigger: always, actuation: {signal: pool.copies, by: 1}}}",
            "loops more", False,
        ),
        (
            edited("workload: {", "workload: {batch: {rate: 1 req/s, service: 1 s}, ").replace(
                "calls: [", "calls: [{from: batch, to: pool}, "
            ), "calls batch -> pool", True,
        ),
        (
            edited("calls: [", "calls: [{from: pool, to: db}, ").replace("components: {", "components: {db: {}, "),
            "calls pool -> db", True,
        ),
    ],
)  # fmt: skip
def test_what_stands_beside_a_queue_is_asked_for_instead_of_a_number(text: str, said: str, load: bool) -> None:
    design = read_text(text)
    for name in ("wait_beyond", "erlang_wait"):
        (answer,) = design_floors(design, [entry(name).bound])
        assert (answer.floor is None) == bool(said)
        assert said in " ".join(answer.application.missing.values())
    for answer in design_floors(design, [entry("servers_for_load").bound])[-1:]:
        assert (answer.floor is not None) == load


@pytest.mark.parametrize(
    ("call", "low", "high"),
    [
        ("per_try: 4 s, tries: 4, hedge_after: 1 s", 1 / 8, 1 / 8),
        ("per_try: 4 s, tries: 4, hedge_after: 1 s..5 s", 1 / 8, 1 / 4),
        ("per_try: 4 s, tries: 4, hedge_after: 5 s", 1 / 4, 1 / 4),
    ],
)
def test_second_copies_keep_an_overload_too(call: str, low: float, high: float) -> None:
    assert overload(DESIGN.format(call=f"{call}, on_timeout: abandon", cv="1", pool="")) == [(low, high)]


def overload(text: str) -> list[tuple[float, float]]:
    found = design_floors(read_text(text), [entry("overload_free_load").bound])
    return sorted((float(each.floor.low), float(each.floor.high)) for each in found if each.floor is not None)


def test_tries_of_the_calls_above_may_keep_an_overload() -> None:
    nested = """coherence: 1
workload: {web: {rate: 3 req/s}}
components: {api: {copies: 9}, pool: {copies: 4}}
calls:
  - {from: web, to: api, tries: 3, per_try: 9 s, on_timeout: abandon}
  - {from: api, to: pool, tries: 2, per_try: 1 s, on_timeout: abandon}
"""
    assert overload(nested) == [(1 / 6, 1 / 2), (1 / 3, 1 / 3)]
    assert overload(nested.replace("tries: 2, ", "")) == [(1 / 3, 1 / 3), (1 / 3, 1)]
    assert overload(nested.replace("rate: 3 req/s", "rate: 3 req/s, deadline: 9 s")) == [(1 / 6, 1), (1 / 3, 1)]


def test_withdrawn_tries_keep_no_overload() -> None:
    assert overload(DESIGN.format(call="per_try: 1 s, tries: 4, on_timeout: cancel", cv="1", pool="")) == []


LIMIT = "limits: {room: {counts: pool.waiting, at_most: 10, when_full: reject}}\n"


LASTING = "on_timeout: abandon, per_try: 1 s, tries: 4"


@pytest.mark.parametrize(
    ("call", "pool", "limits", "high"),
    [
        (LASTING, "", "", 0.25),
        (LASTING + ", deadline: 5 s", "", "", 1.0),
        ("per_try: 1 s, tries: 4", "", "", 1.0),  # nothing says that late tries are served
        ("tries: 4, on_timeout: abandon", "", "", 1.0),  # no try times out
        (LASTING, ", discipline: lifo", "", 1.0),
        (LASTING, "", LIMIT, 1.0),
        (LASTING, "", LIMIT.replace("reject", "wait"), 0.25),
    ],
)
def test_what_may_end_an_overload_leaves_a_range(call: str, pool: str, limits: str, high: float) -> None:
    design = read_text(DESIGN.format(call=call, cv="1", pool=pool) + limits)
    (found,) = design_floors(design, [entry("overload_free_load").bound])
    assert found.floor is not None
    assert (float(found.floor.low), float(found.floor.high)) == (0.25, high)


def lasting(load: float, *, room: int | None = None, newest: bool = False, tries: int = 4) -> bool:
    """Plays a server of one request a second after five seconds of three: whether its callers starve long afterwards.

    A try waits 2 s and is then made anew, up to so many; its work stays.  `room`: how many may wait.
    """
    queue: list[tuple[int, int]] = []  # (when it came, which try)
    turned: list[tuple[int, int]] = []
    answered, owed = 0, 0.0
    for now in range(600):
        owed += 3 if now < 5 else load
        anew = [(now, number + 1) for at, number in [*queue, *turned] if at == now - 2 and number < tries]
        coming = [*anew, *[(now, 1)] * int(owed)]
        owed -= int(owed)
        taken = len(coming) if room is None else max(0, room - len(queue))
        queue, turned = [*queue, *coming[:taken]], [*(each for each in turned if each[0] > now - 2), *coming[taken:]]
        if queue:
            came, _ = queue.pop(-1 if newest else 0)
            answered += now >= 500 and now - came < 2
    return answered < 100 * load / 2


def test_a_queue_with_room_for_few_or_that_serves_the_newest_ends_an_overload_that_else_lasts() -> None:
    assert lasting(0.5)
    assert not lasting(0.2)
    assert not lasting(0.5, room=2)
    assert not lasting(0.5, newest=True)


@pytest.mark.parametrize(
    ("pause", "low", "high"),
    [
        ("100 ms", 0.8 / 3, 0.8 / 3),
        ("{base: 100 ms, factor: 2}", 0.7 / 3, 0.7 / 3),  # 100 ms and 200 ms
        ("{base: 100 ms, factor: 2, jitter: full}", 0.7 / 3, 1 / 3),
        ("{base: 100 ms, factor: 1, jitter: equal}", 0.8 / 3, 0.9 / 3),
        ("{base: 100 ms, factor: 2, cap: 50 ms}", 0.9 / 3, 0.9 / 3),
    ],
)
def test_pauses_that_chance_shortens_leave_longer_timeouts(pause: str, low: float, high: float) -> None:
    design = read_text(DESIGN.format(call=f"deadline: 1 s, tries: 3, pause: {pause}", cv="1", pool=""))
    (answer,) = design_floors(design, [entry("try_timeout_in_deadline").bound])
    assert answer.floor is not None
    assert [float(answer.floor.low), float(answer.floor.high)] == pytest.approx([low, high])


def test_a_pause_that_the_answer_says_is_asked_for() -> None:
    design = read_text(DESIGN.format(call="deadline: 1 s, tries: 3, pause: from answer", cv="1", pool=""))
    (answer,) = design_floors(design, [entry("try_timeout_in_deadline").bound])
    assert answer.floor is None
    assert "answers say it" in answer.application.missing["pause"]
