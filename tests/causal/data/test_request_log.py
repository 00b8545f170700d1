"""A log of requests: which stretch of time each lies in."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.request_log import batch_numbers


def test_a_time_lies_in_one_of_the_equal_stretches_wherever_they_begin() -> None:
    times = np.array([100.0, 102.4, 102.6, 107.4, 110.0])
    assert batch_numbers(times, 100.0, 110.0, 4).tolist() == [0, 0, 1, 2, 3]
    assert batch_numbers(times - 100.0, 0.0, 10.0, 4).tolist() == [0, 0, 1, 2, 3]


def test_without_a_span_all_lie_in_the_first_stretch() -> None:
    assert batch_numbers(np.array([3.0, 3.0]), 3.0, 3.0, 4).tolist() == [0, 0]
