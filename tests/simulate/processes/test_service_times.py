"""Services of activities."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.language.roles import time_of
from coherence.simulate.processes.service_times import uniform_service


@pytest.mark.parametrize(
    ("text", "mean", "cv"), [("2 s .. 4 s", 3.0, 1 / 3**0.5 / 3), ("5 s", 5.0, 0.0), ("0 s", 0.0, 0.0)]
)
def test_every_time_of_a_range_is_as_likely(text: str, mean: float, cv: float) -> None:
    design = read_text(f"coherence: 1\ncomponents: {{s: {{takes: {{serve: {text}}}}}}}\n", "d.yaml")
    takes = time_of(design.components["s"], "answer")
    assert takes is not None
    service = uniform_service(takes)
    assert (service.mean, service.cv) == pytest.approx((mean, cv))
    assert service.family == "uniform"
