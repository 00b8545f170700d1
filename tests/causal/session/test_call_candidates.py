"""Influences that a call declares: each with its sign, its delay and its place."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.causal.fitting.graph import Influence
from coherence.causal.session.call_candidates import accounts, influences_of_calls
from coherence.language.reading import read_text

TEXT = "coherence: 1\ncomponents: {{app: {{}}, db: {{}}}}\ncalls:\n  - {{from: app, to: db{call}}}\n"
CALL = "app -> db"
ALWAYS = {
    ("app.arrivals", f"{CALL}.tries"): 1,
    (f"{CALL}.tries", "db.queue"): 1,
    ("db.served", "db.queue"): -1,
    ("db.queue", "db.queue"): 1,
    ("db.queue", "db.busy"): 1,
    ("db.busy", "db.served"): 0,  # all may be busy
    ("db.queue", f"{CALL}.timeouts"): 0,  # time may pass in calls of the callee
    ("db.served", "db.wasted"): 1,
    ("db.served", "app.completed"): 1,
    ("db.wasted", "app.completed"): -1,
}


def of(call: str = "") -> list[Influence]:
    return list(influences_of_calls(read_text(TEXT.format(call=call))))


def signs(call: str = "") -> dict[tuple[str, str], int]:
    return {(one.cause, one.effect): one.sign for one in of(call)}


def retried(*causes: str) -> dict[tuple[str, str], int]:
    return {**{(f"{CALL}.{why}", f"{CALL}.retries"): 1 for why in causes}, (f"{CALL}.retries", f"{CALL}.tries"): 1}


@pytest.mark.parametrize(
    ("call", "more"),
    [
        ("", {}),
        (", tries: 1", {}),
        (", tries: 2", retried("timeouts", "refused", "rejected", "failed")),
        (", tries: 1 .. 2", retried("timeouts", "refused", "rejected", "failed")),
        (", tries: unlimited", retried("timeouts", "refused", "rejected", "failed")),
        (", tries: 2, retry_when: [timeout]", retried("timeouts")),
        (", tries: 2, retry_when: [unavailable]", retried("timeouts", "refused", "rejected", "failed")),
        (", tries: 2, retry_when: [timeout, unavailable]", retried("timeouts", "refused", "rejected", "failed")),
        (", tries: 1, on_timeout: abandon", {(f"{CALL}.timeouts", "db.wasted"): 1}),
        (", tries: 1, on_timeout: cancel", {}),
    ],
)
def test_a_call_declares_its_influences_with_their_signs(call: str, more: dict[tuple[str, str], int]) -> None:
    assert signs(call) == {**ALWAYS, **more}


def test_rates_of_the_queue_flow_and_everything_has_its_place() -> None:
    found = of(", tries: 2")
    assert {one.cause for one in found if one.flow} == {f"{CALL}.tries", "db.served", "db.queue"}
    assert {one.effect for one in found if one.flow} == {"db.queue"}
    assert {one.by for one in found} == {CALL}
    assert {place.line for one in found for place in one.places} == {4}
    assert all(one.low == 0 for one in found)


@pytest.mark.parametrize(
    ("pause", "latest"),
    [
        ("", 0),
        (", pause: 3 s", 3),
        (", pause: 1 s .. 3 s", 3),
        (", pause: {base: 2 s, factor: 2}", 2),
        (", pause: {base: 2 s, factor: 2, cap: 9 s}", 9),
        (", pause: from answer", 0),
    ],
)
def test_a_retry_follows_its_cause_after_the_pause_at_the_latest(pause: str, latest: int) -> None:
    late = {one.high for one in of(f", tries: 2{pause}") if one.effect == f"{CALL}.retries"}
    assert late == {Fraction(latest)}
    assert {one.high for one in of(f", tries: 2{pause}") if one.effect != f"{CALL}.retries"} == {0}


def test_failures_of_a_call_lead_to_the_tries_of_its_fallback() -> None:
    text = TEXT.format(call="") + "  - {from: app, to: copy, fallback_for: db}\n"
    tries = {one.cause for one in influences_of_calls(read_text(text)) if one.effect == "app -> copy.tries"}
    assert tries == {"app.arrivals", *(f"{CALL}.{why}" for why in ("timeouts", "refused", "rejected", "failed"))}


LINKED = """coherence: 1
workload: {users: {rate: 5 req/s}}
infrastructure:
  tiers: {near: {count: 1}, far: {count: 1}}
  links: [{ends: [near, far], bandwidth: 10 Gbit/s, latency: 1 ms}]
components: {app: {runs_on: near}, db: {rate: 9 req/s, runs_on: far}, log: {rate: 3 req/s}}
calls: [{from: users, to: app}, {from: app, to: db, carries: 1 MB}, {from: app, to: log}]
"""


def test_counts_of_requests_that_are_within_each_other_are_accounts_and_of_two_calls_are_none() -> None:
    """What `app` asks of `db` is within what users ask of `app`; what it asks of `log` is another thing."""
    above = ("users.arrivals", "users -> app.tries", "app.served")
    one = ("app -> db.timeouts", "db.served", "link near - far way.abandoned", "link near - far.wasted")
    other = ("app -> log.tries", "log.queue")
    places = accounts(read_text(LINKED), (*above, *one, *other, "db.power", "other.queue"))
    alike = {(a, b) for a in places for b in places if a != b and places[a] & places[b]}
    within = [(*above, *one), (*above, *other)]
    assert alike == {(a, b) for group in within for a in group for b in group if a != b}
    assert not {"db.power", "other.queue"} & set(places)


def test_calls_that_the_arrivals_of_a_thing_imply_share_its_servers() -> None:
    """What `app` serves of one workload it does not serve of another; what each sends is its own."""
    design = """
workload: {users: {rate: 5 req/s}, batch: {rate: 9 req/s}}
components: {app: {uses: queue, arrivals: users.attempts + batch.attempts, capacity: 20 req/s}}
"""
    names = ("users.completed", "users -> app.served", "batch -> app.served", "app.backlog", "users -> app.tries",
             "batch -> app.tries", "users -> app.timeouts")  # fmt: skip
    places = accounts(read_text(f"coherence: 1\n{design}"), names)
    served = names[:4]
    assert all(places[a] & places[b] for a in served for b in served)
    assert places["users -> app.tries"] & places["app.backlog"]
    assert not places["users -> app.timeouts"] & places["batch -> app.tries"]


def test_what_one_thing_serves_and_sends_on_is_the_same_requests_and_other_flows_are_not() -> None:
    stages = "first: {uses: queue, arrivals: users.attempts}, second: {uses: queue, arrivals: first.served}"
    design = f"""
workload: {{users: {{rate: 5 req/s}}, batch: {{rate: 9 req/s}}}}
components: {{{stages}, other: {{uses: queue, arrivals: batch.attempts}}}}
"""
    flow = ("users.attempts", "users -> first.tries", "first.utilization", "users -> second.succeeded", "second.queue")
    other = ("batch.attempts", "other.served")
    places = accounts(read_text(f"coherence: 1\n{design}"), (*flow, *other))
    assert all(places[a] & places[b] for a in flow for b in flow)
    assert places[other[0]] & places[other[1]]
    assert not any(places[a] & places[b] for a in flow for b in other)
