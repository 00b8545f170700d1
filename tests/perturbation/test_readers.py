"""Which engines read a key: what the table says is measured again for a drawn part of it."""

from __future__ import annotations

import json
from random import Random

import pytest

from coherence.language.pages.key_readers import ENGINES, FILE, NOT_SHOWN, readers, render_readers
from coherence.language.pages.reference import declared_keys, keys_named, render_keys
from tests.perturbation.readers import key_of, witness

DECLARED = tuple(declared_keys())
NAMES = {declared.name for declared in DECLARED}
PAIRS = sorted((name, engine) for name in NAMES for engine in readers(name))


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (("calls", "0", "per_try"), "Call.per_try"),
        (("loops", "signal", "target", "signal"), "Target.signal"),
        (("components", "web", "takes", "serve"), "Component.takes"),
        (("components", "count", "count"), "Component.count"),
        (("components", "web", "load"), "Component.constants"),
        (("workload", "users", "service"), "Workload.service"),
        (("workload", "users", "service", "mean"), "Spread2.mean"),
        (("loops", "a", "actuation", "bounds", "1"), "Actuation.bounds"),
        (("infrastructure", "tiers", "gpu", "count"), "Tier.count"),
        (("promises", "calls"), "Design.promises"),
    ],
)
def test_the_key_of_a_value_is_known_from_the_way_to_it(path: tuple[str, ...], key: str) -> None:
    assert key_of(path) == key


def test_the_table_is_of_keys_and_engines() -> None:
    table = json.loads(FILE.read_text(encoding="utf-8"))
    assert set(table) <= NAMES
    assert all(set(engines.split()) <= set(ENGINES) for engines in table.values())
    assert not any(readers(declared.name) for declared in declared_keys() if declared.key.for_people)


def test_an_explanation_names_the_engines_that_read_a_key() -> None:
    assert "Read by verify, loops, simulate" in render_keys(keys_named("calls.per_try"))


def test_a_key_that_no_design_shows_is_said_to_be_not_shown() -> None:
    shown = {declared.name: render_readers(declared.name, for_people=declared.key.for_people) for declared in DECLARED}
    assert {name for name, text in shown.items() if text == NOT_SHOWN} == {
        declared.name for declared in DECLARED if not (readers(declared.name) or declared.key.for_people)
    }
    assert all(not shown[declared.name] for declared in DECLARED if declared.key.for_people)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "engine"), Random(21).sample(PAIRS, 6))  # noqa: S311  (a draw of pairs)
def test_a_change_of_a_key_moves_the_answers_of_an_engine_that_reads_it(key: str, engine: str) -> None:
    assert witness(engine, key) is not None
