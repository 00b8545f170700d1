"""Numbers of a component as seconds, counts and shares; what is missing or of the wrong kind is collected."""

from __future__ import annotations

from coherence.base.errors import Problem
from coherence.language.reading import read_text
from coherence.simulate.jobs.job import constant, uniform
from coherence.simulate.jobs.keys import Keys, law_of

TEXT = """coherence: 1
components:
  job: {takes: {step: 2 s, save: 10 s .. 20 s}, every: 5 min, share: 20 %, ranks: 8, broken: 2.5, none: 0, open: 3 .. 9}
"""


def keys() -> tuple[Keys, list[Problem]]:
    problems: list[Problem] = []
    return Keys(read_text(TEXT).components["job"], problems), problems


def test_numbers_are_read_in_si() -> None:
    of, problems = keys()
    assert of.duration("every") == 300
    assert of.share("share") == 0.2
    assert of.count("ranks") == 8
    assert of.count("open") == 3  # an unknown constant at its lower end
    assert of.duration("none") == 0  # nothing has every unit
    assert of.duration("absent") is None
    assert of.count("absent") is None
    assert problems == []


def test_activities_are_constant_or_uniform() -> None:
    of, _ = keys()
    assert of.law("step") == constant(2)
    assert of.law("save") == uniform(10, 20)
    assert of.law("absent") is None
    assert law_of(None) is None


def test_what_is_of_the_wrong_kind_is_collected_with_its_place() -> None:
    of, problems = keys()
    assert of.count("every") is None
    assert of.duration("ranks") is None
    assert of.count("broken") is None
    assert of.need(None, "a pace", "add it") is None
    assert of.need(3, "a pace", "add it") == 3
    assert [problem.message for problem in problems] == [
        "job cannot run: needs a number for every, not '5 min'",
        "job cannot run: needs a number for ranks, not '8'",
        "job cannot run: needs a whole number for broken, not 2.5",
        "job cannot run: needs a pace",
    ]
    assert [problem.remedy for problem in problems] == [
        "write for example `every: 8`", "write for example `ranks: 5 min`", "write for example `broken: 2`", "add it",
    ]  # fmt: skip
