"""Caches of prompts over links: in order, in equal parts, beside a fluid and in a design."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.simulate.serving.cache_links import CacheLink, in_order, shared
from coherence.simulate.serving.chain import serve_engines
from coherence.simulate.serving.of_design import engines_of
from tests.simulate.requests.test_fair_shares import fluid

DESIGN = """\
coherence: 1
workload: {chat: {rate: 4 req/s, prompt: 400 token, answer: 20 token}}
infrastructure:
  tiers: {east: {count: 8}, west: {count: 8}}
  links: [{ends: [east, west], bandwidth: 2 GB/s, latency: 3 ms, shares: fifo}]
components:
  prefill: {uses: inference_server, runs_on: east, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 100 us/token}
  decode: {uses: inference_server, runs_on: west, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 100 us/token}
calls: [{from: chat, to: prefill}, {from: prefill, to: decode, carries: 400 MB}]
"""


def test_moves_that_share_a_link_end_as_a_fluid_does() -> None:
    ready = np.sort(np.random.default_rng(2).uniform(0, 20, 60))
    for count in (1, 2, 3):
        expected = fluid((0.5,) * 60, tuple(ready.tolist()), count)
        assert shared(ready, 0.5, count) == pytest.approx(expected, abs=1e-9)


def test_moves_in_order_wait_for_the_first_link_that_is_free() -> None:
    ready = np.sort(np.random.default_rng(2).uniform(0, 20, 60))
    free = [0.0, 0.0]
    for start, end in zip(ready, in_order(ready, 0.7, 2), strict=True):
        link = free.index(min(free))
        free[link] = max(free[link], float(start)) + 0.7
        assert end == pytest.approx(free[link])


def test_a_move_alone_takes_its_time_and_the_latency() -> None:
    for fair in (True, False):
        assert CacheLink("a - b", 0.2, 0.003, 1, fair).moved(np.array([1.0, 5.0])) == pytest.approx([1.203, 5.203])
    assert shared(np.zeros(0), 1.0, 1).size == 0


def moved(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns when prompts are computed and when their caches come."""
    engines = engines_of(read_text(text, "d"), first_burst=60.0)
    (_, prefill), (decode, served) = serve_engines(engines, seed=1, until=60.0, traces={})
    assert decode.name == "decode"
    return np.sort(prefill.last_token[np.isfinite(prefill.last_token)]), served.load.arrival


def test_caches_of_a_design_pass_its_link() -> None:
    ready, came = moved(DESIGN)
    assert came == pytest.approx(in_order(ready, 0.2, 1) + 0.003)
    ready, came = moved(DESIGN.replace("shares: fifo", "shares: fair"))
    assert came == pytest.approx(shared(ready, 0.2, 1) + 0.003)
    assert came.max() > ready.max()


def test_without_a_size_the_latency_alone_is_run_and_said() -> None:
    engine = engines_of(read_text(DESIGN.replace(", carries: 400 MB", ""), "d"), first_burst=60.0)[1]
    assert engine.links == (CacheLink("east - west", 0.0, 0.003, 1, False),)
    assert any("`carries` or `bandwidth` is not stated" in note for note in engine.notes)


def test_two_ways_of_equal_length_are_asked_for() -> None:
    text = DESIGN.replace("shares: fifo}", "shares: fifo}, {ends: [east, west], bandwidth: 1 GB/s}")
    engine = engines_of(read_text(text, "d"), first_burst=60.0)[1]
    assert engine.links == ()
    assert any("pass no link: needs `via`" in note for note in engine.notes)
