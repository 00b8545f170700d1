"""Jobs and their order as they are written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.jobs import needed
from coherence.language.reading import read_text


@pytest.mark.parametrize("needs", ["4 cpu", "{cpu: 4}"])
def test_what_a_job_needs_is_by_resource(needs: str) -> None:
    job = read_text(f"coherence: 1\ncomponents: {{cpu: {{count: 8}}}}\njobs: {{j: {{needs: {needs}}}}}", "d").jobs["j"]
    assert {name: amount.low for name, amount in needed(job).items()} == {"cpu": Fraction(4)}


def test_nothing_is_needed_without_the_key() -> None:
    assert needed(read_text("coherence: 1\njobs: {j: {priority: 3}}", "d").jobs["j"]) == {}


def test_a_victim_that_is_suspended_is_refused_with_what_can_be_said() -> None:
    with pytest.raises(InputError, match="keeps its memory"):
        read_text("coherence: 1\norder: {victim: suspends}", "d")
