"""Times to answer along calls, by hand, and that they only grow with what they are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.verify.calls.answer_times import AnswerTime, as_stated
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.retry_policies import known_end
from tests.verify.affine_rows import figures

CHAIN = """
coherence: 1
components: {front: {takes: {serve: 1 s}}, middle: {}, back: {takes: {serve: 5 s .. 8 s}}}
calls:
  - {from: front, to: middle, deadline: 60 s}
  - {from: middle, to: back, per_try: 20 s, tries: 3}
"""


def answers(text: str = CHAIN) -> dict[str, AnswerTime]:
    return {name: work.answer for name, work in call_tree(read_text(text)).work.items()}


def test_a_time_passes_through_calls_that_do_not_end_it() -> None:
    times = answers()
    assert figures(times["back"].least, times["back"].most, times["back"].bound) == (5, 8, 8)
    assert figures(times["middle"].least, times["middle"].most, times["middle"].bound) == (5, 8, 8)
    assert figures(times["front"].least, times["front"].most, times["front"].bound) == (5, 8, 9)  # 1 s may be in it
    assert [plan.name for plan in times["front"].way] == ["front -> middle", "middle -> back"]


def test_what_is_not_stated_is_named() -> None:
    times = answers(CHAIN.replace("back: {takes: {serve: 5 s .. 8 s}}", "back: {}"))
    assert times["middle"].silent == ("middle", "back")
    assert figures(times["middle"].most, times["middle"].bound) == (0, 20)
    assert answers()["back"].silent == ()


def test_a_call_without_a_limit_to_something_unknown_has_no_bound() -> None:
    times = answers(
        CHAIN.replace(", per_try: 20 s, tries: 3", "").replace("back: {takes: {serve: 5 s .. 8 s}}", "back: {}")
    )
    assert times["middle"].bound is None
    assert times["middle"].open == ("takes: {serve: ...} of back",)


def test_of_several_calls_the_least_is_that_of_the_shortest_and_the_bound_that_of_all() -> None:
    text = CHAIN.replace("back: {", "side: {takes: {serve: 1 s .. 3 s}}, back: {") + "  - {from: middle, to: side}\n"
    middle = answers(text)["middle"]
    assert figures(middle.least, middle.most, middle.bound) == (1, 8, 11)


def test_a_fallback_answers_sooner_where_the_first_call_is_refused_and_later_where_it_never_succeeds() -> None:
    text = """
coherence: 1
components: {first: {takes: {serve: 8 s}}, second: {takes: {serve: 3 s}}}
calls:
  - {from: app, to: first, deadline: 7 s}
  - {from: app, to: second, fallback_for: first}
"""
    time, in_time = answers(text)["app"], answers(text.replace("7 s", "9 s"))["app"]
    assert figures(time.least, time.most, time.bound, time.plain) == (3, 10, 10, 10)
    assert figures(in_time.least, in_time.most, in_time.bound, in_time.plain) == (3, 8, 8, 8)


def test_a_thing_that_answers_in_time_never_times_out() -> None:
    plan = call_tree(read_text(CHAIN)).plans[1]
    assert known_end(plan) == 60
    assert known_end(as_stated(plan, plan.limit.low / 2 if plan.limit else plan.limit)) == 10  # type: ignore[arg-type]


@given(low=st.integers(0, 100), more=st.integers(0, 100), own=st.integers(0, 100), limit=st.integers(1, 200))
def test_least_most_and_bound_are_in_order_and_within_the_limit(low: int, more: int, own: int, limit: int) -> None:
    text = f"""
coherence: 1
components: {{middle: {{takes: {{serve: {own} s}}}}, back: {{takes: {{serve: {low} s .. {low + more} s}}}}}}
calls: [{{from: middle, to: back, deadline: {limit} s}}]
"""
    time = answers(text)["middle"]
    assert time.bound is not None
    assert time.least <= time.most <= time.bound == own + min(limit, low + more)
