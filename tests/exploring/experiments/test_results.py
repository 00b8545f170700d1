"""Runs of experiments: each is kept, none is made twice, and a damaged line is made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments import control_distortion, results
from coherence.exploring.experiments.experiment import Chance, Experiment, PowerCurve

DRAWN: list[float] = []


def shifted(size: float) -> Callable[[Chance], Signature]:
    """Returns a system whose p is that of a mean of 16 normal draws, by the normal law."""

    def system(chance: Chance) -> Signature:
        from scipy.stats import norm

        DRAWN.append(size)
        mean = float(chance.normal(size, 1, 16).mean())
        return Signature("shift", "no shift", float(norm.sf(4 * mean)), mean, "1", "of a spread")

    return system


CURVES = (PowerCurve("by size", "size", (0, 2), shifted, 5),)
SHIFT = Experiment("0 shift", "A mean moves.", "Normal draws.", {"none": shifted(0)}, {"two": shifted(2)}, CURVES)


@pytest.fixture
def shift(monkeypatch: pytest.MonkeyPatch) -> None:
    DRAWN.clear()
    monkeypatch.setattr(control_distortion, "EXPERIMENT", SHIFT)


def test_the_five_modes_and_their_interactions_are_experiments_in_their_order() -> None:
    assert results.experiment_names() == (
        "asymmetry-drift", "memory-path", "inaccessible-capacity", "control-distortion", "migration", "interactions",
    )  # fmt: skip


def test_an_unknown_experiment_names_a_near_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'migration'"):
        results.experiment_named("migratoin")


@pytest.mark.usefixtures("shift")
def test_rejections_are_those_of_the_law_that_was_drawn_from() -> None:
    null, effect = results.run_experiment("control-distortion", None, curves=False).counts()
    assert null.rejected <= 10
    assert null.magnitude == pytest.approx(0, abs=0.06)
    assert effect.rejected == 300
    assert effect.magnitude == pytest.approx(2, abs=0.06)
    assert effect.holds
    assert effect.target == "at least 270"


@pytest.mark.usefixtures("shift")
def test_runs_that_a_file_holds_are_not_made_again(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    first = results.run_experiment("control-distortion", file, curves=True)
    assert len(DRAWN) == 610
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:400], '{"stream": "0 shift two", "seed"']))
    again = results.run_experiment("control-distortion", file, curves=True)
    assert len(DRAWN) == 610 + 610 - 399
    assert list(again.counts()) == list(first.counts())
    assert again.points(CURVES[0]) == first.points(CURVES[0]) == ((0, 0.0), (2, 1.0))


@pytest.mark.usefixtures("shift")
@pytest.mark.parametrize("damage", [{"p": 2.0}, {"p": "0"}, {"seed": "1"}, {"magnitude": float("nan")}, {"more": 1}])
def test_a_damaged_line_is_made_again(tmp_path: Path, damage: dict[str, object]) -> None:
    file = tmp_path / "runs.jsonl"
    results.run_experiment("control-distortion", file, curves=False)
    head, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([head, json.dumps({**json.loads(first), **damage}), *rest, ""]))
    results.run_experiment("control-distortion", file, curves=False)
    assert len(DRAWN) == 601


def test_the_shares_of_a_file_of_another_experiment_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"of": "migration"}) + "\n")
    with pytest.raises(UsageError, match="holds another experiment"):
        results.run_experiment("control-distortion", file, curves=False)


def test_runs_with_one_seed_are_alike() -> None:
    truth = control_distortion.EXPERIMENT.truth("gain CV .2")
    assert truth.signature(3) == truth.signature(3) != truth.signature(4)
    assert np.isfinite(truth.signature(3).magnitude)
