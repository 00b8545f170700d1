"""ConfigMap: a configuration of the Prometheus adapter in one of its files; others are listed."""

from __future__ import annotations

import pytest

from coherence import importers

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
RULES = "data:\n  a.yaml: |\n    rules:\n    - seriesQuery: '{__name__=~\"^a\"}'\n      metricsQuery: q\n"


def listed(data: str) -> list[tuple[int, str]]:
    design = importers.design_from_sources({"c.yaml": f"{HEAD}{data}"})
    return [(place.line, words) for place, words in design.not_modelled]


def test_a_value_in_a_file_stands_on_its_line() -> None:
    ((line, words),) = listed(RULES)
    assert (line, "rules[0].seriesQuery (which metrics it finds is known at run time)" in words) == (7, True)


@pytest.mark.parametrize("data", ["data: {x: y}\n", "data: {x: '1'}\nbinaryData: {z: eA==}\n"])
def test_other_files_are_listed(data: str) -> None:
    assert any("data" in words for _, words in listed(data))


def test_one_that_looks_like_it_and_is_broken_says_so() -> None:
    assert any("cannot be read as one" in words for _, words in listed("data: {a: 'rules: [{seriesQuery: x'}\n"))
