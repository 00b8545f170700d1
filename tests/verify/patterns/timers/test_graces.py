"""Lays answers about graces without a stated drain beside a list of what can be under way when the drain begins."""

from __future__ import annotations

import random
from itertools import product

import pytest

from coherence.findings.finding import Verdict
from tests.case_files import findings_of


@pytest.mark.parametrize("seed", range(24))
def test_a_grace_cuts_what_may_be_under_way_just_where_a_run_in_steps_does(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # drawn designs
    first, second = (sorted(draw.choices(range(1, 12), k=2)) for _ in range(2))
    unlists, kills = (sorted(draw.choices(range(3, 14), k=2)) for _ in range(2))
    text = f"""coherence: 1
components:
  worker:
    takes: {{a: {first[0]} s .. {first[1]} s, b: {second[0]} s .. {second[1]} s}}
    roles: {{a: answer, b: answer}}
timers:
  unlist: {{from: worker drains, after: {unlists[0]} s .. {unlists[1]} s, then: unlist worker}}
  grace: {{from: unlist, after: {kills[0]} s .. {kills[1]} s, then: kill worker}}
"""
    runs = product(_between(first), _between(second), _between(unlists), _between(kills))
    cut = any(
        work_a + work_b - begun >= unlisted + killed
        for work_a, work_b, unlisted, killed in runs
        for begun in range(work_a + work_b)
    )
    [finding] = [f for f in findings_of(text, repairs=False) if f.code == "COH207" and "grace" in f.of]
    assert (finding.verdict is Verdict.CONFLICT) is cut
    assert (finding.verdict is Verdict.PROVED) is not cut


def _between(ends: list[int]) -> range:
    return range(ends[0], ends[1] + 1)
