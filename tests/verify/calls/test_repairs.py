"""Repairs of calls: what stands in the text afterwards, and that the tries then fit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.finding import Repair
from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.repairs import (
    deadline_of_each,
    ended,
    fewer_tries,
    longer,
    offered,
    shorter,
    shorter_try,
    waits,
    with_limit,
)
from coherence.verify.calls.retry_policies import RetryPolicy, retry_end, retry_policy_of

TEXT = """coherence: 1
components: {{app: {{}}, db: {{}}}}
calls: [{{from: app, to: db, {call}}}]
"""


def subject_of(call: str) -> tuple[Subject, RetryPolicy]:
    text = TEXT.format(call=call)
    subject = Subject(read_text(text, "d"), {"d": text})
    return subject, retry_policy_of(subject.design.calls[0])


def text_after(subject: Subject, repair: Repair | None) -> str | None:
    if repair is None:
        return None
    changed = apply(repair.edits, subject.sources)
    assert changed is not None
    return changed["d"].split("to: db, ")[1].split("}]")[0]


def test_only_possible_repairs_are_offered() -> None:
    repair = Repair((), "")
    assert offered(None, repair, None) == (repair,)
    assert offered(None) == ()


@pytest.mark.parametrize(
    ("spelling", "tries", "expected"),
    [
        ({}, "3", "tries: 3, deadline: 9 s, per_try: 1.5 s, "),
        ({"per_try": "per_try"}, "3", "tries: 3, per_try: 1500ms, deadline: 9 s, "),
        ({"per_try": "per_try"}, "[3, 2]", "tries: [3, 2], deadline: 9 s, per_try: 1500ms, "),
    ],
)
def test_a_limit_of_a_try_stands_beside_the_deadline_and_in_a_manifest_beside_its_one_number_of_tries(
    spelling: dict[str, str], tries: str, expected: str
) -> None:
    """There the tries and their limit are one block (`retries` of a route); layers of tries have no one block."""
    text = TEXT.format(call=f"tries: {tries}, deadline: 9 s, retry_when: [timeout]")
    subject = Subject(read_text(text, "d").replace(imported=bool(spelling), spelling=spelling), {"d": text})
    edit = with_limit(subject, retry_policy_of(subject.design.calls[0]), Fraction(3, 2))
    assert edit is not None
    assert text_after(subject, Repair((edit,), "")) == f"{expected}retry_when: [timeout]"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("per_try: 2 s, tries: 3, retry_when: [timeout], pause: 1 s", 2),
        ("per_try: 2 s, tries: 4, retry_when: [timeout], pause: {base: 1 s, factor: 2}", 7),  # 1 + 2 + 4
        ("per_try: 2 s", 0),
        ("per_try: 2 s, tries: unlimited, retry_when: [timeout], pause: 1 s", None),
    ],
)
def test_all_pauses_at_their_longest(call: str, expected: int | None) -> None:
    assert waits(subject_of(call)[1]) == expected


@pytest.mark.parametrize(
    ("call", "room", "expected"),
    [
        # (5 - 2) / 3 = 1 s and less: the next number that a person writes is 0.9 s
        (
            "per_try: 2 s, tries: 3, retry_when: [timeout], pause: 1 s",
            5,
            "per_try: 0.9 s, tries: 3, retry_when: [timeout], pause: 1 s",
        ),
        ("per_try: 2 s, tries: 3, retry_when: [timeout]", 5, "per_try: 1.5 s, tries: 3, retry_when: [timeout]"),
        ("per_try: 2 s, tries: 3, retry_when: [timeout], pause: 1 s", 2, None),  # the pauses alone fill it
        ("per_try: 2 s, tries: unlimited, retry_when: [timeout], pause: 1 s", 9, None),
        # without one it is inserted beside the deadline
        (
            "deadline: 9 s, tries: 3, retry_when: [timeout]",
            5,
            "deadline: 9 s, per_try: 1.5 s, tries: 3, retry_when: [timeout]",
        ),
        ("tries: 3, retry_when: [timeout]", 5, None),
    ],
)
def test_a_shorter_try_lets_all_tries_end_before_the_room_is_over(call: str, room: int, expected: str | None) -> None:
    subject, plan = subject_of(call)
    changed = text_after(subject, shorter_try(subject, plan, Fraction(room)))
    assert changed == expected
    if changed is not None:
        end = retry_end(subject_of(changed)[1])
        assert end is not None
        assert end < room


@pytest.mark.parametrize(
    ("call", "count", "expected"),
    [
        ("per_try: 2 s, tries: 5, retry_when: [timeout]", 3, "per_try: 2 s, tries: 3, retry_when: [timeout]"),
        ("per_try: 2 s, tries: 5, retry_when: [timeout]", None, None),
        ("per_try: 2 s, tries: 5, retry_when: [timeout]", 0, None),
        ("per_try: 2 s, tries: unlimited, retry_when: [timeout]", 3, "per_try: 2 s, tries: 3, retry_when: [timeout]"),
        ("per_try: 2 s, tries: [2, 3], retry_when: [timeout]", 3, None),  # which of the two?
    ],
)
def test_fewer_tries_stand_where_they_are_one_number(call: str, count: int | None, expected: str | None) -> None:
    subject, plan = subject_of(call)
    assert text_after(subject, fewer_tries(subject, plan, count)) == expected


def test_a_duration_is_made_longer_or_shorter_by_a_number_that_a_person_writes() -> None:
    subject, plan = subject_of("per_try: 2 s, tries: 5")
    place = plan.call.per_try.place  # type: ignore[union-attr]
    assert text_after(subject, longer(subject, place, Fraction(4))) == "per_try: 5 s, tries: 5"
    assert text_after(subject, longer(subject, place, Fraction(39, 10))) == "per_try: 4 s, tries: 5"
    assert longer(subject, place, None) is None
    assert text_after(subject, shorter(subject, place, Fraction(1))) == "per_try: 0.9 s, tries: 5"
    assert shorter(subject, place, Fraction(0)) is None


@pytest.mark.parametrize("tries", [2, 3, 5])
@pytest.mark.parametrize("pause", [0, 1, 4])
def test_the_deadline_of_all_becomes_that_of_each_and_all_of_them_fit(tries: int, pause: int) -> None:
    subject, plan = subject_of(f"tries: {tries}, deadline: 9 s, pause: {pause} s, retry_when: [timeout]")
    repair = deadline_of_each(subject, plan)
    assert repair is not None
    changed = apply(repair.edits, subject.sources)
    assert changed is not None
    call = read_text(changed["d"], "d").calls[0]
    assert isinstance(call.per_try, Quantity)
    assert isinstance(call.deadline, Quantity)
    assert call.per_try.low == 9  # a try may take as long as before
    second, last = 0, 0
    for number in range(tries):
        last = second + 9
        second = last + (pause if number < tries - 1 else 0)
    assert last < call.deadline.low


def test_a_deadline_is_written_only_where_nothing_ends_the_call() -> None:
    subject, plan = subject_of("tries: 5, pause: 1 s, retry_when: [refused], fails: {refused: 1 s}")
    fewer = fewer_tries(subject, plan, 2)
    repair = ended(subject, plan, fewer, Fraction(9))
    assert (
        text_after(subject, repair)
        == "tries: 2, deadline: 9 s, pause: 1 s, retry_when: [refused], fails: {refused: 1 s}"
    )
    assert ended(subject, plan, None, Fraction(9)) is None
    assert ended(subject, plan, fewer, None) is None
    limited, other = subject_of("tries: 5, deadline: 9 s, retry_when: [timeout]")
    assert ended(limited, other, fewer_tries(limited, other, 2), Fraction(9)) is None
