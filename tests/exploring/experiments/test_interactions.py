"""Queues with two changes: means against the law of M/M/1, sums where each change has a server of its own."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.exploring.experiments.experiment import chance
from coherence.exploring.experiments.interactions import LOAD, MORE, SLOWER, four, waited


def test_the_mean_wait_is_that_of_the_law() -> None:
    drawn = chance("law", 1)
    own = [waited(drawn.exponential(1 / LOAD, 20_000), drawn.exponential(1.0, 20_000)) for _ in range(40)]
    error = np.std(own, ddof=1) / len(own) ** 0.5
    assert abs(np.mean(own) - LOAD / (1 - LOAD)) < 3.5 * error + 0.005  # starts empty: below by under .005


def test_both_at_one_server_do_what_the_law_says_beyond_the_sum() -> None:
    def law(load: float, service: float) -> float:
        return service * load * service / (1 - load * service)

    runs = [four(chance("both", seed), together=True, requests=20_000) for seed in range(30)]
    more, slower = LOAD * (1 + MORE), 1 + SLOWER
    expected = law(more, slower) - law(LOAD, slower) - law(more, 1) + law(LOAD, 1)
    own = [run.contrast for run in runs]
    error = np.std(own, ddof=1) / len(own) ** 0.5
    assert abs(np.mean(own) - expected) < 3.5 * error


def test_each_at_a_server_of_its_own_adds_exactly_on_the_same_chances() -> None:
    run = four(chance("apart", 3), together=False, requests=500)
    assert run.contrast == pytest.approx(0, abs=1e-9 * run.both)
    assert run.first > run.none
    assert run.second > run.none
