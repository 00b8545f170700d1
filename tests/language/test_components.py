"""Components as they are written: activities with their roles, capacities, disciplines, and any other key."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.components import DISCIPLINES
from coherence.language.design import Component
from coherence.language.reading import read_text


def component(keys: str) -> Component:
    return read_text(f"coherence: 1\ncomponents: {{web: {{{keys}}}}}", "d").components["web"]


def test_any_other_key_is_a_constant_a_range_or_an_output() -> None:
    web = component("load: 20, spare: 1 .. 2, use: load / spare")
    assert {name: type(value).__name__ for name, value in web.constants.items()} == {
        "load": "Quantity", "spare": "Quantity", "use": "Formula",
    }  # fmt: skip


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_every_discipline_is_read(discipline: str) -> None:
    assert str(component(f"discipline: {discipline}").discipline) == discipline


def test_a_role_is_one_of_those_that_are_understood() -> None:
    assert str((component("takes: {cook: 1 s}, roles: {cook: answer}").roles or {})["cook"]) == "answer"
    with pytest.raises(InputError, match="not one of answer"):
        component("takes: {cook: 1 s}, roles: {cook: cooking}")


@pytest.mark.parametrize("copies", ["8.5", "15/16", "2 .. 8.5", "-4", "-1 .. 3"])
def test_a_part_of_a_member_is_refused(copies: str) -> None:
    with pytest.raises(InputError, match="is no number of members"):
        component(f"copies: {copies}")


@pytest.mark.parametrize("copies", ["8", "2 .. 8", "2 * load, load: 3"])
def test_members_are_counted_or_computed(copies: str) -> None:
    assert component(f"copies: {copies}").copies is not None
