"""Copies of a server: who takes a request, steps taken together, pauses; and the ring of free blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.simulate.serving.begin import cost_of, fleet_of, rules_of
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.server import Experts, InferenceServer, StepTime, TokenLoad, load
from tests.draws import few
from tests.simulate.serving.plain_kernel import plain_kernel

with plain_kernel() as modules:
    state, blocks, kernel, fleet = modules

SECOND = StepTime(1, 0, 0, 0)
LOAD = load([0.0, 0.0, 0.0, 0.0], [4] * 4, [3] * 4)


def test_requests_go_to_the_copy_with_the_least_to_do() -> None:
    server = InferenceServer(1, 64, 64, copies=3)
    copies = fleet_of(server, LOAD, 1.0, ())
    assert fleet.least_busy(copies) == 0
    kernel.enqueue(state.copy_of(copies, 0), 0)
    copies.turn[state.LAST] = 0
    assert fleet.least_busy(copies) == 1
    copies.count[1, state.RUNNING] = copies.count[2, state.RUNNING] = 5
    assert fleet.least_busy(copies) == 0  # one that waits counts as much as four that run


def test_two_copies_serve_two_at_once() -> None:
    assert serve(InferenceServer(1, 64, 64), SECOND, LOAD).last_token.tolist() == [3, 6, 9, 12]
    assert serve(InferenceServer(1, 64, 64, copies=2), SECOND, LOAD).last_token.tolist() == [3, 3, 6, 6]


def test_copies_that_step_together_wait_for_the_slowest() -> None:
    uneven = load([0.0, 0.0], [1, 9], [2, 2])
    step = StepTime(1, 1, 0, 0)
    apart = serve(InferenceServer(1, 64, 64, copies=2), step, uneven)
    together = serve(InferenceServer(1, 64, 64, copies=2, together=True), step, uneven)
    assert apart.first_token.tolist() == [2, 10]
    assert together.first_token.tolist() == [10, 10]


def test_copies_that_step_together_share_their_experts() -> None:
    step = StepTime(1, 0, 0, 0, Experts(8, 2, 8.0))
    whole, shared = (cost_of(InferenceServer(4, 8, 9, copies=n, together=n > 1), step).experts for n in (1, 2))
    assert whole[1] == pytest.approx(2.0)
    assert shared[1] == pytest.approx(8 / 2 * (1 - (1 - 2 / 8) ** 2))


def test_no_step_begins_in_a_pause() -> None:
    served = serve(InferenceServer(4, 64, 64), SECOND, LOAD, pauses=[(1.5, 7.0)])
    assert served.last_token.tolist() == [8.0] * 4  # the step that has begun at 1 ends at 2


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5)), max_size=30))
@settings(deadline=None, max_examples=few(60))
def test_the_ring_holds_each_free_block_once(moves: list[tuple[bool, int]]) -> None:
    server = InferenceServer(4, 64, 12, block_size=4, prefix_cache=True)
    whole = TokenLoad(np.zeros(6), np.full(6, 20), np.full(6, 4))
    copies, rules = fleet_of(server, whole, 1.0, ()), rules_of(server)
    one = state.copy_of(copies, 0)
    for request, (gives, total) in enumerate(moves):
        who = request % 6
        if gives and one.count[state.FREE] >= total > one.of.held[who]:
            blocks.claim(rules, one, who, total)
        elif not gives:
            blocks.release(rules, one, who)
        ring, block = [], one.after[server.blocks]
        while block != server.blocks:
            ring.append(int(block))
            block = one.after[block]
        assert sorted(ring) == np.flatnonzero(one.users == 0).tolist()
        assert len(ring) == one.count[state.FREE] == server.blocks - one.of.held.sum()
