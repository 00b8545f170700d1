"""Numbers, floors and bounds as text, JSON and LaTeX."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.base.number_text import render_bound
from coherence.minimums import report
from coherence.minimums.bound import ProofGrade
from coherence.minimums.floors import Floor, over
from coherence.minimums.registry import bounds, entries, entry
from coherence.minimums.sensitivity import Sensitivity, Worth


def floor(name: str, **inputs: tuple[int, int]) -> Floor:
    return over(entry(name).bound, {key: (Fraction(low), Fraction(high)) for key, (low, high) in inputs.items()})


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (Fraction(1, 20), "s", "50 ms"),
        (Fraction(3), "1", "3"),
        (1 / 3, "", "0.333333"),
        (Fraction(1), "bit/s", "8 bit/s"),
        (Fraction(7), "flop/byte", "7 flop/byte"),
        (math.inf, "s", "inf s"),
    ],
)
def test_a_number_is_shown_in_a_readable_unit(number: Fraction | float, unit: str, text: str) -> None:
    assert render_bound(number, unit) == text


def test_a_range_shows_both_ends_unless_they_are_one() -> None:
    assert report.range_of(floor("nested_attempts", outer=(3, 3), inner=(2, 2))) == "6"
    assert report.range_of(floor("nested_attempts", outer=(3, 4), inner=(2, 2))) == "6 .. 8"


def test_evidence_says_what_each_proof_covers_and_cites_what_none_covers_whole() -> None:
    for known in bounds():
        text = report.evidence(known)
        for proof in known.proofs:
            assert f"proved by machine {proof.grade}: " in text
            assert proof.says in text
        whole = any(proof.grade is ProofGrade.UNIVERSAL for proof in known.proofs)
        assert (f"cited: {known.source}" in text) is not whole
        assert known.witness is None or f"run: {known.witness.says}" in text


def test_the_registry_lists_every_bound_under_its_group_and_counts_them() -> None:
    lines = list(report.table(list(entries().values())))
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(names) == sorted(entries())
    assert lines[-1].startswith(f"{len(entries())} bounds, ")


@pytest.mark.parametrize(
    ("text", "latex"),
    [("50 %", r"50 \%"), ("a_b", r"a\_b"), ("x^2", r"x\textasciicircum{}2"), ("\\", r"\textbackslash{}"), ("e", "e")],
)
def test_text_loses_its_meaning_for_latex(text: str, latex: str) -> None:
    assert report.escaped(text) == latex


def test_a_value_says_what_it_depends_on() -> None:
    known = floor("nested_attempts", outer=(3, 3), inner=(2, 2))
    steep = [Sensitivity("tries", 2.0, exact=True), Sensitivity("layers", -0.5, exact=False)]
    first, evidence, *rest = report.value_text(known, steep, [])
    assert evidence.startswith(f"  {known.bound.kind}, of worst case; ")
    assert first == f"{known.bound.quantity}: 6"
    assert rest == [
        "  1 % more tries changes it by +2 %",
        "  1 % more layers changes it by -0.5 % (by differences)",
    ]


def test_what_measuring_an_input_is_worth() -> None:
    (line,) = report.worth_text([Worth("write", Fraction(1, 10), Fraction(1, 100))], "s")
    assert line == "measuring write narrows it from 100 ms to at most 10 ms"


def test_each_bound_has_an_entry_for_a_bibliography() -> None:
    for known in entries().values():
        text = report.bibtex(known)
        assert text.startswith(f"@misc{{{known.bound.name},\n")
        assert text.count("{") == text.count("}")
    text = report.bibtex(entry("gossip_calls"))
    assert "year = {1972}" in text
    assert "Discrete Mathematics 2" in text


def test_a_notebook_shows_the_formula() -> None:
    import coherence as co

    assert co.bound("gossip_calls")._repr_latex_() == report.formula_latex(entry("gossip_calls").bound)
    assert co.bound("all_reduce_end_point", n=8, size="1 GB", bandwidth="50 GB/s")._repr_latex_().startswith("$")
    assert co.bound("bins_by_volume")._repr_latex_().startswith(r"$\left\lceil")
    assert co.bound("ski_rental").bibtex == report.bibtex(entry("ski_rental"))
