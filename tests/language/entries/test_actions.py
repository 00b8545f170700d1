"""What a timer does, from the words of its `then`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.entries.actions import acted_on, action_in, ended_activity, ended_by, is_harmless, unclear_state
from coherence.language.reading import read_text
from coherence.language.words import ACTIONS, EVENTS, MARKED, MARKING


@pytest.mark.parametrize(
    ("then", "action", "thing"),
    [
        ("restart server", "ends", "server"),
        ("mark node down", "ends", "node"),
        ("declare worker dead", "ends", "worker"),
        ("mark service critical", "takes off the list", "service"),
        ("mark node", "tells", "node"),
        ("mark checkpoint old", "tells", "old"),
        ("send alert", "tells", "alert"),
        ("redeliver message", "hands out again", "message"),
        ("promote replica", "", "replica"),
        ("restart", "ends", ""),
        ("pool ends", "ends", "pool"),
        ("all of pool.run end", "ends", "pool.run"),
        ("first pool ends", "", "ends"),
        ("restart job from checkpoint", "ends", "job"),
        ("evict web on node", "ends", "web"),
    ],
)
def test_the_first_word_or_the_state_of_a_mark_says_what_is_done_and_to_what(
    then: str, action: str, thing: str
) -> None:
    assert (action_in(then), acted_on(then)) == (action, thing)


@given(st.sampled_from(sorted(MARKING)), st.sampled_from(sorted(MARKED["ends"])))
def test_a_mark_in_a_state_in_which_work_is_lost_is_not_harmless(verb: str, state: str) -> None:
    assert not is_harmless(f"{verb} node {state}")


@given(st.sampled_from(ACTIONS["tells"]), st.text("abcdef", min_size=1))
def test_what_only_tells_is_harmless_whomever_it_tells(verb: str, whom: str) -> None:
    assert is_harmless(f"{verb} {whom}")


@given(st.sampled_from(sorted(MARKING)), st.sampled_from(MARKED["takes off the list"]))
def test_a_mark_that_takes_off_the_list_ends_no_activity(verb: str, state: str) -> None:
    assert is_harmless(f"{verb} node {state}")


@pytest.mark.parametrize(
    ("then", "state"),
    [("mark node crashed", "crashed"), ("mark node down", ""), ("mark run slow", ""), ("mark node", "")],
)
def test_a_state_of_no_row_is_unclear(then: str, state: str) -> None:
    assert unclear_state(then) == state


@given(st.sampled_from(ACTIONS["ends"]), st.sampled_from(EVENTS["ends"]), st.sampled_from(["pool", "pool.run"]))
def test_what_is_ended_is_the_same_in_the_words_of_an_order_and_of_an_event(verb: str, word: str, thing: str) -> None:
    assert ended_by(f"{verb} {thing}") == ended_by(f"{thing} {word}") == ended_by(f"requeue {thing}") == thing


@pytest.mark.parametrize("then", ["alert pool", "unlist pool", "pool starts", "redeliver message"])
def test_what_ends_nothing_names_nothing_that_is_ended(then: str) -> None:
    assert ended_by(then) == ""


@pytest.mark.parametrize(("takes", "then", "activity"), [
    ("run: 1 h", "kill model", "model.run"),
    ("run: 1 h", "model ends", "model.run"),
    ("run: 1 h", "stop model", ""),
    ("run: 1 h", "kill other", ""),
    ("run: 1 h", "alert model", ""),
    ("load: 1 min, serve: 1 s", "kill model", ""),
    ("load: 1 min, serve: 1 s", "abort model.load", "model.load"),
    ("load: 1 min, serve: 1 s", "abort model.walk", ""),
])  # fmt: skip
def test_an_action_ends_the_activity_that_it_names_and_what_is_the_whole_life(
    takes: str, then: str, activity: str
) -> None:
    assert ended_activity(read_text(f"coherence: 1\ncomponents: {{model: {{takes: {{{takes}}}}}}}\n"), then) == activity
