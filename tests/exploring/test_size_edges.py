"""The edge of a size beside every whole value asked one by one, and beside its closed form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.checking.weighing import ask_weighed
from coherence.cli._size_edge import as_json, render
from coherence.exploring.box_answers import answer
from coherence.exploring.size_edges import SizeEdge, one_key, size_edge
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language.design import Design
from coherence.language.reading import read_text

TEXT = """coherence: 1
workload: {r: {rate: 40 req/s}}
infrastructure:
  tiers: {gpu: {count: 64}}
components:
  pool: {runs_on: {tier: gpu, devices: 1}, copies: 4, rate_per_copy: 12 req/s}
calls: [{from: r, to: pool}]
"""


def modules(*codes: str) -> list[QuestionModule]:
    return [module for module in question_modules() if module.questions[0].code in codes]


def read(sources: object) -> Design:
    assert isinstance(sources, dict)
    return read_text(sources["d"], "d")


def edge_of(parameter: str, chosen: Sequence[QuestionModule], text: str = TEXT) -> SizeEdge:
    return size_edge(parameter, {"d": text}, read, chosen)


def conflicts(copies: int, chosen: Sequence[QuestionModule]) -> bool:
    text = TEXT.replace("copies: 4", f"copies: {copies}")
    return answer(ask_weighed(Subject(read_text(text, "d"), {"d": text}), chosen)).conflict


def test_the_edge_is_that_of_every_value_asked_one_by_one() -> None:
    chosen = modules("COH211", "COH245")
    edge = edge_of("components.pool.copies=4:90", chosen)
    assert edge.holds is not None
    assert edge.fails == edge.holds + 1
    assert [conflicts(n, chosen) for n in range(60, 70)] == [n > edge.holds for n in range(60, 70)]
    assert not edge.is_open
    assert {code for code, _ in edge.questions} == {"COH211"}


def test_a_size_may_be_too_small() -> None:
    edge = edge_of("components.pool.copies=1:64", modules("COH211", "COH245"))
    assert (edge.holds, edge.fails) == (Fraction(4), Fraction(3))  # 40 req/s of 12 each
    assert "36 req/s" in edge.conflicts[0]


def test_a_size_that_is_no_count_is_told_to_a_thousandth() -> None:
    edge = edge_of("workload.r.rate=1 req/s:200 req/s", modules("COH245"))
    assert edge.holds is not None
    assert edge.fails is not None
    assert edge.holds <= 48 < edge.fails <= edge.holds + Fraction(199, 1000)


def test_without_a_conflict_or_with_nothing_else_there_is_no_edge() -> None:
    holds = edge_of("components.pool.copies=4:8", modules("COH211", "COH245"))
    assert (holds.holds, holds.fails) == (Fraction(8), None)
    assert any("no conflict at either end" in line for line in render("d", holds))
    fails = edge_of("components.pool.copies=1:3", modules("COH245"))
    assert (fails.holds, fails.fails) == (None, Fraction(3))
    assert fails.is_open
    assert as_json(fails)["proved"] == []


def test_where_proofs_are_lacking_what_lies_between_is_undecided() -> None:
    text = TEXT.replace("tiers: {gpu: {count: 64}}", "boundaries: {vms: {around: [pool], capacity_fraction: 0.5 .. 1}}")
    text = text.replace("runs_on: {tier: gpu, devices: 1}, ", "")
    edge = edge_of("workload.r.rate=1 req/s:200 req/s", modules("COH245"), text)
    assert edge.fails is not None
    assert edge.holds is None or edge.holds <= 24  # at the low end of the share


def test_one_key_is_asked_for() -> None:
    assert one_key(["a=1:2"]) == "a=1:2"
    with pytest.raises(UsageError, match="2 keys"):
        one_key(["a=1:2", "b=1:2"])


def test_ends_with_a_point_are_those_of_a_range() -> None:
    text = """coherence: 1
workload: {users: {rate: 18 req/s, cases: {near: 1, far: 1}}}
components: {fast: {copies: 2, rate_per_copy: 8 req/s}, slow: {copies: 2, rate_per_copy: 4 req/s}}
calls:
  - {from: users, to: fast, case: near}
  - {from: users, to: slow, case: far}
"""
    edge = edge_of("workload.users.cases.near=1.0:6.0", modules("COH501"), text)  # 18 / (1 + w) <= 8
    assert edge.holds is not None
    assert edge.fails is not None
    assert not edge.whole
    assert edge.fails < Fraction(5, 4) <= edge.holds < edge.fails + Fraction(5, 1000)
    counted = edge_of("workload.users.cases.near=1:6", modules("COH501"), text)
    assert counted.whole
    assert (counted.holds, counted.fails) == (Fraction(2), Fraction(1))
