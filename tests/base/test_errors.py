"""Errors: what they say is safe to print, whoever wrote the words in it, and they survive a process boundary."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.places import Place


def test_a_problem_shows_place_value_and_remedy_on_two_lines() -> None:
    problem = Problem(Place("a\x1b.yaml", 3, 4, 3, 5), "'\x1b]0;pwn\x07' is no\nname", "write password=hunter2")
    assert str(problem) == "a\\x1b.yaml:3:4: '\\x1b]0;pwn\\x07' is no\\nname\n  help: write password=***"
    assert problem.message == "'\\x1b]0;pwn\\x07' is no\\nname"


def test_details_of_an_error_stand_on_lines_of_their_own() -> None:
    assert str(UsageError("it cannot be run:", ["a\nb", "c"])) == "it cannot be run:\n  a\\nb\n  c"


def test_an_address_with_a_password_is_masked() -> None:
    assert str(UsageError("'http://me:hunter2@h:x' is no address")) == "'http://***@h:x' is no address"


def copied(error: Any) -> Any:
    return pickle.loads(pickle.dumps(error))  # noqa: S301  (what was written on the line itself)


def test_errors_survive_a_process_boundary() -> None:
    usage = copied(UsageError("a", ["b"]))
    assert str(usage) == "a\n  b"
    problems = (Problem(Place("f", 1, 1, 1, 1), "m", "r"),)
    assert copied(InputError(problems)).problems == problems


@pytest.mark.parametrize(
    ("written", "said"), [("no x: ", "no x"), ("no x; ", "no x"), ("no x; help: ", "no x"), ("x:", "x:")]
)
def test_nothing_is_announced_where_nothing_is_near(written: str, said: str) -> None:
    assert str(UsageError(written)) == said
