"""The section with the map: today's values are marked on it, and a map that could not be made says why."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coherence.assessment.parts.stability_maps import AssessedMap, stability_map
from coherence.assessment.sections import stability_map as section
from coherence.checking.workspace import open_workspace
from tests.assessment.run_assessments import assessed, rendered
from tests.paths import SPECS


@pytest.mark.slow
def test_a_map_marks_today_and_counts_its_points() -> None:
    entry = open_workspace([SPECS / "latency-throughput" / "design.yaml"]).entries[0]
    mapped = stability_map(entry, (), ["preempt", "guarantee"], 60.0)
    text = rendered(section.section(replace(assessed(), stability=mapped)))
    assert ">today<" in text
    marks = re.findall('<path d="(M[^"]*)" fill="none" stroke="#4a4a4a"', text)
    assert sum(path.count("L") == 9 for path in marks) == 2  # on the map and in its legend: no verdict's mark
    assert "coherence sweep" in text
    assert '<td class="n">25</td>' in text  # today's settings swing for ever, and so do all around


def test_a_map_that_could_not_be_made_says_why() -> None:
    text = rendered(section.section(replace(assessed(), stability=AssessedMap(refused="there is no number"))))
    assert "No map: there is no number." in text
