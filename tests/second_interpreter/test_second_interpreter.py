"""Lays every `proved` and `conflict` of random designs beside a second interpreter, which imports no engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from tests.draws import drawn
from tests.second_interpreter.__main__ import FAMILIES
from tests.second_interpreter.designs import KINDS, WIDE
from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.laid import runs_contradicted, sums_contradicted
from tests.second_interpreter.laid_calls import calls_contradicted
from tests.second_interpreter.ledgers import unanswered
from tests.second_interpreter.standing import silent_proofs
from tests.second_interpreter.surroundings import jobs_together, measured_values

UNDECIDED = (measured_values, jobs_together)  # promises that no question decides
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@every_family
def test_a_few_designs_of_each_family_have_the_answer_of_a_list_of_all_cases(family: Callable[[Random], Drawn]) -> None:
    counts = Counter[str]()
    assert not list(sums_contradicted(family, range(3), counts))


@pytest.mark.slow
@every_family
def test_designs_of_each_family_have_the_answer_of_a_list_of_all_cases(family: Callable[[Random], Drawn]) -> None:
    counts = Counter[str]()
    assert not list(sums_contradicted(family, drawn(range(1000, 1300), parts=3), counts))
    answers = {line.split(",")[0] for line in counts}
    if family in UNDECIDED:
        assert answers == {"undecided"}
        return
    assert "conflict" in answers  # else the family says nothing
    assert answers & {"proved", "silent"}


@pytest.mark.slow
def test_each_promise_limit_and_timer_of_a_few_designs_has_an_answer_or_is_named() -> None:
    counts = Counter[str]()
    assert not list(unanswered(FAMILIES, range(15), counts, time_limit=1))
    assert {"always", "before", "response", "sends"} <= {line.split()[0] for line in counts}


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(1000, 1200, 50))  # in parts, so that no worker is left alone with all of them
def test_each_promise_limit_and_timer_has_an_answer_or_is_named(begin: int) -> None:
    assert not list(unanswered(FAMILIES, range(begin, begin + 50), Counter(), time_limit=1))


def test_a_few_proofs_fall_or_speak_where_an_entry_is_added_that_touches_them() -> None:
    counts = Counter[str]()
    assert not list(silent_proofs(FAMILIES, range(6), counts))
    assert {"fell", "stands"} <= {line.split()[-1] for line in counts}  # else nothing was touched by what was added


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(1000, 1080, 20))
def test_proofs_fall_or_speak_where_an_entry_is_added_that_touches_them(begin: int) -> None:
    assert not list(silent_proofs(FAMILIES, range(begin, begin + 20), Counter()))


@pytest.mark.slow
def test_nobody_is_proved_to_be_let_in_whom_a_choice_among_equals_may_keep_waiting() -> None:
    counts = Counter[str]()
    assert not list(sums_contradicted(FAMILIES["who_starves"], range(352, 362), counts))
    assert counts["undecided, open"]
    assert not counts["proved, open"]


def test_a_few_call_graphs_take_as_long_as_the_list_of_their_runs_says() -> None:
    assert not list(calls_contradicted(range(25), Counter()))


@pytest.mark.slow
def test_call_graphs_take_as_long_as_the_list_of_their_runs_says() -> None:
    counts = Counter[str]()
    seeds = drawn(range(1000, 1400), parts=4)
    assert not list(calls_contradicted(seeds, counts))
    exact = {"answers exact", "ends", "COH201 proved holds", "COH201 conflict breaks", "COH204 proved holds"}
    assert all(8 * counts[answer] >= len(seeds) for answer in exact)  # else the family says nothing


@pytest.mark.parametrize("kinds", KINDS)
def test_a_few_promises_over_plants_are_kept_or_broken_by_plain_runs(kinds: str) -> None:
    assert not list(runs_contradicted(kinds, range(1), Counter(), time_limit=1))


@pytest.mark.slow
@pytest.mark.parametrize("kinds", KINDS)
def test_promises_over_plants_are_kept_or_broken_by_plain_runs(kinds: str) -> None:
    counts = Counter[str]()
    seeds = drawn(range(1000, 1030), parts=5 if kinds in WIDE else 2)
    assert not list(runs_contradicted(kinds, seeds, counts, time_limit=2))
    decided = sum(number for name, number in counts.items() if name.endswith(("Proved", "Refuted", "Late")))
    assert kinds in WIDE or 5 * decided >= 2 * len(seeds)  # wide ones are mostly open within the time
