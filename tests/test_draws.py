"""The part of the random draws that a slow test takes."""

from __future__ import annotations

from random import Random

import pytest

from tests.draws import VARIABLE, drawn, few, seeds, source


def test_without_a_word_the_first_part_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert drawn(range(1000, 1300), parts=3) == range(1000, 1100)
    assert source(20).random() == Random(20).random()  # noqa: S311  (the same number)


def test_parts_follow_one_another_and_go_on_to_what_was_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = []
    for number in range(4):
        monkeypatch.setenv(VARIABLE, str(number))
        parts.append(drawn(range(1000, 1300), parts=3))
    assert [part.start for part in parts] == [1000, 1100, 1200, 1300]
    assert all(len(part) == 100 for part in parts)


def test_each_part_has_numbers_of_its_own_and_all_of_them_begin_as_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    first = {}
    for word in ("all", "0", "1", "2"):
        monkeypatch.setenv(VARIABLE, word)
        first[word] = source(20).random()
    assert first["all"] == first["0"]
    assert len(set(first.values())) == 3


def test_all_draws_are_taken_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert (few(100), few(5), few(1)) == (34, 2, 1)
    monkeypatch.setenv(VARIABLE, "all")
    assert few(100) == 100
    assert drawn(range(10_000), parts=10) == range(10_000)


@pytest.mark.parametrize("seed", seeds(2, 5))
def test_the_first_seeds_of_a_law_are_drawn_in_every_run_and_the_others_with_the_slow_tests(
    seed: int, request: pytest.FixtureRequest
) -> None:
    assert seed in range(5)
    assert (request.node.get_closest_marker("slow") is not None) is (seed >= 2)


@pytest.mark.parametrize("word", ["", "half", "-1", "1.5"])
def test_another_word_is_an_error(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv(VARIABLE, word)
    with pytest.raises(ValueError, match="write the number of a part"):
        source(20)
