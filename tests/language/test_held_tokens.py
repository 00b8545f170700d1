"""Limits on the tokens of what is in work, beside a plain run of requests that hold theirs from beginning to end."""

from __future__ import annotations

import heapq
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.edited_designs import with_values
from coherence.findings.finding import Edit
from coherence.findings.repairs import text_at
from coherence.language.entries.member_slots import member_slots
from coherence.language.limit_units import RequestsHeld, lacking_length
from coherence.language.reading import read_text

DESIGN = """\
coherence: 1
workload: {{chat: {{rate: 1 req/s, {lengths}}}}}
components: {{gw: {{}}, llm: {{copies: 8, takes: {{answer: 1 s}}}}}}
calls: [{{from: chat, to: gw}}, {{from: gw, to: llm}}]
limits: {{kv: {{counts: {counts}, at_most: {most} token, {per}when_full: {full}}}}}
"""


def slots(lengths: str, most: int, counts: str = "llm.tokens", per: str = "per: replica, ", full: str = "wait"
          ) -> tuple[int, int] | None:  # fmt: skip
    design = read_text(DESIGN.format(lengths=lengths, most=most, counts=counts, per=per, full=full), "d.yaml")
    assert member_slots(design, "gw") is not None
    if not isinstance(design.limits["kv"].at_most, RequestsHeld):
        return None
    stated = member_slots(design, "llm")
    return None if stated is None else (int(stated.low), int(stated.high))


@pytest.mark.parametrize(
    ("lengths", "counts", "expected"),
    [
        ("tokens: 2000", "llm.tokens", (5, 5)),
        ("prompt: 1500, answer: 500", "llm.tokens", (5, 5)),
        ("prompt: 1500, answer: 500", "llm.prompt_tokens", (7, 7)),
        ("tokens: 500 .. 3000", "llm.tokens", (3, 22)),
        ("tokens: {mean: 1000, cv: 0}", "llm.tokens", (11, 11)),
        ("tokens: {mean: 1000, cv: 1, max: 2000}", "llm.tokens", (9, 11_000)),
        ("tokens: {mean: 1000, cv: 1, max: 9000}", "llm.tokens", (2, 11_000)),
        ("tokens: 2000", "sum of gateway.tokens", None),
        ("tokens: {mean: 1000, cv: 1}", "llm.tokens", None),
        ("prompt: 1500", "llm.tokens", None),
    ],
)
def test_as_many_are_in_work_as_hold_so_many_tokens(
    lengths: str, counts: str, expected: tuple[int, int] | None
) -> None:
    assert slots(lengths, 11_000, counts) == expected


def test_only_what_each_member_holds_says_how_many_it_works_on() -> None:
    assert slots("tokens: 2000", 11_000, per="") is None
    assert slots("tokens: 2000", 11_000, per="per: tenant, ") is None
    assert slots("tokens: 2000", 11_000, full="evict and redo") is None


def test_what_is_not_stated_is_asked_for() -> None:
    asked = [("prompt: 9", "the tokens of chat (`prompt` and `answer`, or `tokens`)"), ("tokens: 9", ""),
             ("tokens: {mean: 9, cv: 1}", "the longest request of chat (`max`)")]  # fmt: skip
    for lengths, needed in asked:
        text = DESIGN.format(lengths=lengths, most=99, counts="llm.tokens", per="per: pod, ", full="wait")
        design = read_text(text, "d.yaml")
        assert lacking_length(design, design.limits["kv"]) == needed


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(40, 200), st.integers(0, 2**30))
@settings(max_examples=60, deadline=None)
def test_a_full_member_works_on_at_least_and_on_average_at_most_so_many(
    lengths: list[int], most: int, seed: int
) -> None:
    """Whoever comes first is taken in first, as soon as its tokens fit; each takes as long as any other."""
    low, high = slots(f"tokens: {min(lengths)} .. {max(lengths)}", most) or (0, 0)
    chance = random.Random(seed)  # noqa: S311
    now, free, worked = 0.0, most, 0.0
    ends: list[tuple[float, int]] = []
    for _ in range(400):
        length = chance.choice(lengths)
        while free < length:
            assert len(ends) >= low
            end, given_back = heapq.heappop(ends)
            worked += len(ends) * (end - now) + (end - now)
            now, free = end, free + given_back
        free -= length
        heapq.heappush(ends, (now + 1 - chance.random() / 1e3, length))
    assert worked <= high * now * (1 + 1e-9)


def test_an_edit_in_place_counts_the_requests_anew() -> None:
    text = DESIGN.format(lengths="tokens: 2000", most=9000, counts="llm.tokens", per="per: pod, ", full="wait")
    design = read_text(text, "d.yaml")
    for old, new in (("2000", "1000"), ("9000", "8000")):
        line = next(n for n, row in enumerate(text.splitlines()) if old in row)
        place = (design.workload["chat"].tokens if old == "2000" else design.limits["kv"].at_most).place  # type: ignore[union-attr]
        assert place.line == line + 1
        assert text_at({"d.yaml": text}, place) in (old, f"{old} token")
        before = text_at({"d.yaml": text}, place) or ""
        edit = Edit(place, before, before.replace(old, new))
        after = with_values(design, [edit], {"d.yaml": text})
        written = read_text(text.replace(old, new), "d.yaml")
        assert after is not None
        assert member_slots(after, "llm") == member_slots(written, "llm")
        assert (member_slots(after, "llm") or (None,)) != member_slots(design, "llm")
        assert Fraction(1, 2000 if new == "8000" else 1000) == after.limits["kv"].at_most.share  # type: ignore[union-attr]
