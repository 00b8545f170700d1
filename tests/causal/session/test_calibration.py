"""Measured ranges of constants go into the text of a design, hold the truth, and end its contradiction."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.checks import contradicted_strength
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.calibration import Calibrated, calibrated, calibrated_texts
from coherence.causal.session.context import Context, FitSettings
from coherence.causal.session.declared_strengths import declared_strengths
from coherence.language.reading import read_text

ROWS = 1_500


def context(text: str, **columns: Floats) -> Context:
    names = tuple(name.replace("_", ".") for name in columns)
    return Context(read_text(text, "d.yaml"), Series(names, np.column_stack([*columns.values()]), 15.0), FitSettings())


def signals(count: int) -> Floats:
    return np.random.default_rng(1).normal(3, 1, (count, ROWS))


def constants(text: str, **columns: Floats) -> dict[str, Calibrated]:
    return {one.path: one for one in calibrated(context(text, **columns), {"d.yaml": text})}


def test_a_range_becomes_the_measured_one_and_contradicts_no_more() -> None:
    text = "coherence: 1\ncomponents:\n  job: {loss: src.a * k - src.b * m, k: 0 .. 0.1, m: 7}  # mine\n"
    a, b, own = signals(3)
    columns = {"src_a": a, "src_b": b, "job_loss": 2 * a - 0.5 * b + own}
    before = context(text, **columns)
    assert len(list(contradicted_strength.ask(before))) == 2
    found = calibrated(before, {"d.yaml": text})
    after = calibrated_texts(found, {"d.yaml": text}, "week.csv")["d.yaml"]
    assert after.endswith("}  # mine  # measured: week.csv\n")
    assert not list(contradicted_strength.ask(context(after, **columns)))
    reach = {factor.cause: factor.reach for factor in declared_strengths(context(after, **columns))}
    assert reach["src.a"][0] < 2 < reach["src.a"][1]
    assert reach["src.b"][0] < -0.5 < reach["src.b"][1]
    assert max(high - low for low, high in reach.values()) < 0.3


def test_writing_twice_names_the_last_source_alone() -> None:
    text = "coherence: 1\ncomponents:\r\n  job:\r\n    loss: src.a * k\r\n    k: 0 .. 9\r\n"
    a, own = signals(2)
    once = calibrated_texts(calibrated(context(text, src_a=a, job_loss=2 * a + own), {"d.yaml": text}),
                            {"d.yaml": text}, "one.csv")["d.yaml"]  # fmt: skip
    twice = calibrated_texts(calibrated(context(once, src_a=a, job_loss=2 * a + own), {"d.yaml": once}),
                             {"d.yaml": once}, "two.csv")["d.yaml"]  # fmt: skip
    assert twice == once.replace("one.csv", "two.csv")
    assert once.count("\r\n") == text.count("\r\n")


def test_a_factor_of_a_constant_gives_the_constant() -> None:
    text = "coherence: 1\ncomponents:\n  job: {loss: src.a * k * 8, k: 0 .. 9}\n"
    a, own = signals(2)
    low, _, high = constants(text, src_a=a, job_loss=2 * a + own)["job.k"].new.partition(" .. ")
    assert float(low) < 0.25 < float(high)
    assert float(high) - float(low) < 0.05


@pytest.mark.parametrize("stated", ["0 ms .. 900 ms", "0 .. 900 ms", "3 ms"])
def test_a_unit_stays_and_its_number_is_in_it(stated: str) -> None:
    a, own = signals(2)
    text = f"coherence: 1\ncomponents:\n  job: {{loss: src.a * k, k: {stated}}}\n"
    new = constants(text, src_a=a, job_loss=0.25 * a + 0.01 * own)["job.k"].new
    low, _, high = new.removesuffix(" ms").partition(" .. ")
    assert new.endswith(" ms")
    assert float(low) < 250 < float(high)


def test_a_unit_that_is_not_clear_is_not_guessed() -> None:
    a, own = signals(2)
    for stated in ("0 s", "0 s .. 900 ms"):
        text = f"coherence: 1\ncomponents:\n  job: {{loss: src.a * k, k: {stated}}}\n"
        assert constants(text, src_a=a, job_loss=0.25 * a + 0.01 * own)["job.k"].refused


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("{loss: src.a * k * m, k: 1 .. 3, m: 1 .. 2}", "job.m", "together"),
        ("{loss: src.a * k + src.b * m, k: 0 .. 9, m: 0 .. 9}", "job.m", "does not tell"),
    ],
)
def test_what_is_not_told_is_not_written(text: str, path: str, why: str) -> None:
    a, own = signals(2)
    design = f"coherence: 1\ncomponents:\n  job: {text}\n"
    found = constants(design, src_a=a, src_b=2 * a, job_loss=2 * a + own)
    assert why in found[path].refused
    assert not found[path].new
