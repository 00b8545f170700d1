"""Mean and longest service of a workload."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.verify.queues.service_means import longest_service_of, mean_service


@pytest.mark.parametrize(
    ("service", "mean", "cut"),
    [
        ("20 ms", Fraction(1, 50), False),
        ("{mean: 20 ms, cv: 1, max: 1 s}", Fraction(1, 50), True),
        ("{mean: 20 ms, cv: 0, max: 1 s}", Fraction(1, 50), False),
    ],
)
def test_a_mean_is_a_time_and_a_longest_service_cuts_where_services_differ(
    service: str, mean: Fraction, *, cut: bool
) -> None:
    workload = read_text(f"coherence: 1\nworkload: {{u: {{service: {service}}}}}\n", "d").workload["u"]
    stated = mean_service(workload)
    assert stated is not None
    assert stated.low == mean
    assert (longest_service_of(workload) is not None) is cut
