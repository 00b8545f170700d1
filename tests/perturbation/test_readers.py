"""Which engines read a key: what the table says is measured again for a drawn part of it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from coherence.language.pages.key_readers import ENGINES, FILE, NOT_SHOWN, readers, render_readers
from coherence.language.pages.reference import declared_keys, keys_named, names_within, render_keys
from tests.perturbation.outputs import command_line, output, questions
from tests.perturbation.readers import OWN, key_of, witness
from tests.perturbation.written_leaves import NAME

DECLARED = tuple(declared_keys())
NAMES = {declared.name for declared in DECLARED}
UNSHOWN = {
    "Component.measured_in",  # a name of a boundary
    "Design.prices",  # `report` and measured floors read them, no engine alone
    "Design.telemetry",  # columns and queries of `fit` and `watch`
    "Hosting.tier",  # a name of a tier
    "Limit.actions",  # words that importers write
    "Loop.per",  # a name of a component
    "Spread2.quantiles",  # of one value alone the mean is another, which is refused
    "Workload.constants",  # read through the formulas that name them
}
MOVED = [  # by a change of value in tests/perturbation/designs, or beside a question that reads it
    (name, engine)
    for name, engines in {
        "Actuation.off_at": "loops simulate", "Boundary.call_delay": "verify simulate", "Breaker.at_least": "simulate",
        "Breaker.failures": "simulate", "Breaker.last": "simulate", "Breaker.open_for": "simulate",
        "Breaker.share": "simulate", "Breaker.trials": "simulate", "Component.cases": "verify simulate",
        "Component.via": "verify simulate", "Link.duplex": "verify simulate", "Randomness.cv": "simulate minimums",
        "Timescale.hold_up": "loops simulate causal", "Workload.prefix": "simulate",
    }.items()
    for engine in engines.split()
]  # fmt: skip


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
    shown = {
        declared.name: render_readers(names_within(declared.record, declared.key), for_people=declared.key.for_people)
        for declared in DECLARED
    }
    assert {name for name, text in shown.items() if text == NOT_SHOWN} == UNSHOWN
    assert all(not shown[declared.name] for declared in DECLARED if declared.key.for_people)


def test_a_key_that_holds_others_is_read_by_who_reads_one_of_them() -> None:
    (timers,) = keys_named("timers")[:1]
    inside = {engine for key in DECLARED if key.path.startswith("timers.") for engine in readers(key.name)}
    assert set(readers(*names_within(timers.record, timers.key))) == inside > set(readers(timers.name))


def test_no_answer_depends_on_the_folder_of_a_design(tmp_path: Path) -> None:
    """Else every change would seem to move it."""
    text = (OWN / "duplex.yaml").read_text(encoding="utf-8")
    for ask in (questions(("COH508",)), command_line("bound", "-o", "json")):
        shown = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir(exist_ok=True)
            shown.append(output(ask, {NAME: text}, tmp_path / name))
        assert shown[0] == shown[1]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "engine"), Random(21).sample(MOVED, 6))  # noqa: S311  (a draw of pairs)
def test_a_change_of_a_key_moves_the_answers_of_an_engine_that_reads_it(key: str, engine: str) -> None:
    assert witness(engine, key) is not None
