"""Repairs that `check` offers of designs with bounded queues and deadlines, beside the plain arithmetic of a queue."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity

FILE = "d.yaml"


def drawn(chance: Random) -> str:
    """Returns a pool with a queue, a deadline, the limit of a try, and a limit on what is sent in a window."""
    rate, copies, mean = chance.choice([20, 40, 80]), chance.choice([2, 4, 8]), chance.choice([50, 100, 200])
    waiting, deadline, each = chance.choice([20, 100, 400]), chance.choice([1, 4, 10]), chance.choice([1, 3, 6, 20])
    return f"""coherence: 1
workload: {{users: {{rate: {rate} req/s, deadline: {deadline} s, service: {{mean: {mean} ms}}}}}}
components: {{pool: {{copies: {copies}}}}}
limits:
  queue: {{counts: pool.waiting, at_most: {waiting}, when_full: reject}}
  quota: {{counts: attempts(pool), at_most: {chance.choice([10, 30, 90])}, window: 1 s, when_full: wait}}
calls: [{{from: users, to: pool, per_try: {each} s, on_timeout: cancel}}]
"""


def findings(text: str) -> tuple[Finding, ...]:
    return analyse(read_text(text, FILE), {FILE: text}, lambda own: read_text(own[FILE], FILE)).findings


def waits_and_patience(text: str) -> tuple[Fraction, Fraction, Fraction]:
    """Returns how long the last of a full queue waits (s), the deadline of a request and the limit of a try (s)."""
    design = read_text(text, FILE)
    users, pool, queue, call = (
        design.workload["users"],
        design.components["pool"],
        design.limits["queue"],
        design.calls[0],
    )
    stated = (getattr(users.service, "mean", None), pool.copies, queue.at_most, users.deadline, call.per_try)
    mean, members, most, deadline, each = (own for own in stated if isinstance(own, Quantity))
    return most.high * mean.high / members.low, deadline.low, each.low


def too_long(text: str) -> bool:
    """Decides whether the last of a full queue is served for nobody."""
    wait, deadline, each = waits_and_patience(text)
    return wait > min(deadline, each)


@pytest.mark.slow
def test_no_repair_lets_more_wait_than_are_served_in_time() -> None:
    """24 drawn designs: a repair leaves no queue too long that was not, and no try that outlasts a late request."""
    chance, offered = Random(15), 0  # noqa: S311
    for _ in range(24):
        text = drawn(chance)
        _, deadline, each = waits_and_patience(text)
        for found in findings(text):
            for repair in found.repairs if found.verdict is Verdict.CONFLICT else ():
                changed = apply(repair.edits, {FILE: text})
                assert changed is not None
                offered += 1
                assert too_long(text) or not too_long(changed[FILE]), (text, repair)
                if repair.proved and found.code == "COH245" and "queue" in found.of and each <= deadline:
                    assert not too_long(changed[FILE]), (text, repair)
    assert offered > 10


@pytest.mark.parametrize(("most", "each"), [(60, 2), (90, 4)])
def test_a_try_that_would_have_to_outlast_its_request_is_no_repair(most: int, each: int) -> None:
    """Ten a second, requests that are given up after five seconds: only a shorter queue or more members will do."""
    text = (
        "coherence: 1\n"
        "workload: {users: {rate: 9 req/s, deadline: 5 s, service: {mean: 100 ms}}}\n"
        "components: {pool: {copies: 1}}\n"
        f"limits: {{queue: {{counts: pool.waiting, at_most: {most}, when_full: reject}}}}\n"
        f"calls: [{{from: users, to: pool, per_try: {each} s, on_timeout: cancel}}]\n"
    )
    assert too_long(text)
    (conflict,) = (own for own in findings(text) if own.code == "COH245" and own.verdict is Verdict.CONFLICT)
    assert conflict.repairs
    for repair in conflict.repairs:
        changed = apply(repair.edits, {FILE: text})
        assert changed is not None
        assert not repair.proved or not too_long(changed[FILE]), repair
    longer = text.replace(f"per_try: {each} s", f"per_try: {most // 10 + 1} s")
    assert too_long(longer)
    assert any(own.code == "COH245" and own.verdict is Verdict.CONFLICT for own in findings(longer))


@pytest.mark.parametrize(("copies", "repaired"), [("0 .. 5", "1 .. 5"), ("0 .. 1", "1"), ("0", "1")])
def test_a_range_of_members_keeps_its_upper_end(copies: str, repaired: str) -> None:
    text = f"""coherence: 1
workload: {{users: {{rate: 4 req/s}}}}
components: {{web: {{copies: {copies}, takes: {{answer: 40 ms}}}}}}
calls: [{{from: users, to: web, deadline: 2 s}}]
"""
    (conflict,) = (own for own in findings(text) if own.code == "COH245" and own.verdict is Verdict.CONFLICT)
    changed = apply(conflict.repairs[0].edits, {FILE: text})
    assert changed is not None
    assert f"copies: {repaired}, takes" in changed[FILE]
    assert not any(own.verdict is Verdict.CONFLICT for own in findings(changed[FILE]))
