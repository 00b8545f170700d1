"""The inference server: cases worked out by hand, then laws over random loads."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.simulate.serving.engine import Served, serve
from coherence.simulate.serving.server import CHUNKED, PREFILL_FIRST, InferenceServer, StepTime, TokenLoad, load
from tests.draws import few
from tests.simulate.serving.plain_kernel import plain_kernel

SECOND = StepTime(1, 0, 0, 0)  # every step takes one second


def served(
    server: InferenceServer, step: StepTime, *requests: tuple[float, int, int], until: float = math.inf
) -> Served:
    """Serve (arrival, prompt, output) requests; samples after every step."""
    arrival, prompt, output = zip(*requests, strict=True)
    return serve(server, step, load(arrival, prompt, output), until=until, sample_every=1e-9)


def test_one_request_takes_its_prefill_in_chunks_and_a_step_for_each_further_token() -> None:
    # 4 + 1 prompt tokens, then two decodes over 5 and 6 tokens in the cache
    result = served(InferenceServer(1, 4, 8), StepTime(1, 0.1, 0.01, 0.001), (2.0, 5, 3))
    assert result.first_token[0] == pytest.approx(2 + 2 * 1.01 + 5 * 0.1 + 4 * 0.001)
    assert result.last_token[0] == pytest.approx(2 + 4 * 1.01 + 5 * 0.1 + (4 + 5 + 6) * 0.001)
    assert result.tpot[0] == pytest.approx((2 * 1.01 + 11 * 0.001) / 2)
    assert (result.wait[0], result.steps, result.end) == (0, 4, result.last_token[0])


def test_equal_requests_at_once_share_every_step() -> None:
    result = served(InferenceServer(4, 64, 64), StepTime(1, 0.1, 0.01, 0.001), *[(0.0, 10, 3)] * 4)
    assert result.first_token == pytest.approx(np.full(4, 1 + 40 * 0.1 + 4 * 0.01))
    assert result.last_token == pytest.approx(np.full(4, 3 * (1 + 4 * 0.01) + 40 * 0.1 + 4 * (10 + 11) * 0.001))


def test_the_second_waits_where_one_runs_at_a_time() -> None:
    result = served(InferenceServer(1, 64, 64), SECOND, (0.0, 4, 3), (0.5, 4, 2))
    assert result.last_token.tolist() == [3, 5]
    assert result.wait.tolist() == [0, 2.5]
    assert result.ttft.tolist() == [1, 3.5]


def test_an_arrival_in_the_middle_of_a_step_waits_for_its_end() -> None:
    result = served(InferenceServer(8, 64, 64), SECOND, (0.0, 4, 4), (1.25, 4, 1))
    assert result.scheduled[1] == 2
    assert result.latency[1] == 1.75


def test_an_idle_server_starts_when_a_request_comes() -> None:
    result = served(InferenceServer(8, 64, 64), SECOND, (1.0, 4, 2), (100.5, 4, 1))
    assert result.latency.tolist() == [2, 1]
    assert result.series["time"].tolist() == [2, 3, 101.5]
    assert result.series["running"].tolist() == [1, 0, 0]


def test_tokens_of_a_step_go_to_those_that_run_before_new_prompts() -> None:
    # the first decodes, so 3 of 4 tokens are left for the second's six: two steps
    result = served(InferenceServer(2, 4, 64), SECOND, (0.0, 4, 6), (0.5, 6, 1))
    assert (result.scheduled[1], result.first_token[1]) == (1, 3)
    assert result.last_token[0] == 6


def test_nobody_is_admitted_into_a_step_without_tokens_left() -> None:
    result = served(InferenceServer(2, 8, 64), SECOND, (0.0, 8, 1), (0.0, 4, 1))
    assert result.scheduled.tolist() == [0, 1]


def test_whole_prompts_that_do_not_fit_one_step_take_two() -> None:
    result = served(InferenceServer(2, 8, 64, prefill=PREFILL_FIRST), SECOND, (0.0, 5, 1), (0.0, 5, 1))
    assert (result.scheduled.tolist(), result.first_token.tolist()) == ([0, 1], [1, 2])


def test_whole_prompts_come_before_decodes_where_prefill_is_first() -> None:
    server = InferenceServer(2, 8, 64, prefill=PREFILL_FIRST)
    result = served(server, SECOND, (0.0, 4, 3), (0.5, 8, 1))
    assert result.first_token.tolist() == [1, 2]  # the second step computes the second prompt alone
    assert result.last_token.tolist() == [4, 2]


def test_a_request_that_fills_the_cache_exactly_is_served_alone() -> None:
    # prompt 5 and output 4 hold 8 tokens: the last one written needs no place
    result = served(InferenceServer(2, 64, 2, block_size=4), SECOND, (0.0, 5, 4))
    assert (result.last_token[0], result.preemptions[0]) == (4, 0)
    assert result.series["blocks"].tolist() == [2, 2, 2, 0]


def test_a_block_is_taken_when_its_first_token_comes() -> None:
    result = served(InferenceServer(2, 64, 8, block_size=4), SECOND, (0.0, 3, 4))
    assert result.series["blocks"].tolist() == [1, 1, 2, 0]  # 3, 4, 5 and 6 tokens held


@pytest.mark.parametrize("prefill", [CHUNKED, PREFILL_FIRST])
def test_a_request_larger_than_the_cache_is_rejected_and_others_are_served(prefill: str) -> None:
    server = InferenceServer(2, 64, 2, block_size=4, prefill=prefill)
    result = served(server, SECOND, (0.0, 5, 5), (0.0, 5, 4))
    assert result.rejected.tolist() == [True, False]
    assert math.isnan(result.latency[0])
    assert (result.written.tolist(), result.last_token[1]) == ([0, 4], 4)
    assert result.percentiles("latency", (50,)) == (4,)


def test_a_prompt_larger_than_a_step_is_rejected_where_prompts_go_whole() -> None:
    assert served(InferenceServer(2, 8, 64, prefill=PREFILL_FIRST), SECOND, (0.0, 9, 1)).rejected.all()
    assert not served(InferenceServer(2, 8, 64), SECOND, (0.0, 9, 1)).rejected.any()


def test_preemption_takes_the_last_and_makes_it_compute_again() -> None:
    """Five blocks of one token, two requests that need four each.

    Step 1: both prefill 2 tokens.  Step 2: the first takes the fifth block; the second finds none and gives its
    two back.  Step 3: the first writes its last token.  Step 4: the second computes 2 + 1 tokens.  Step 5: it ends.
    """
    step = StepTime(1, 0.01, 0, 0)
    result = served(InferenceServer(2, 16, 5, block_size=1), step, (0.0, 2, 3), (0.0, 2, 3))
    assert result.first_token == pytest.approx([1.04, 1.04])
    assert result.last_token == pytest.approx([3.04, 5.07])
    assert (result.preemptions.tolist(), result.recomputed.tolist()) == ([0, 1], [0, 2])
    assert result.series["blocks"].tolist() == [4, 3, 0, 3, 0]
    assert result.series["waiting"].tolist() == [0, 1, 1, 0, 0]
    assert result.series["prefilled"].tolist() == [4, 4, 4, 7, 7]


def test_a_step_that_preempts_admits_nobody() -> None:
    # two tokens a step: in the third the first takes the last block, the second finds none and gives its one back;
    # it starts again in the fourth, though a token and that block were left in the third
    result = served(InferenceServer(2, 2, 5, block_size=1), SECOND, (0.0, 2, 3), (0.0, 2, 2))
    assert result.series["blocks"].tolist() == [2, 4, 0, 2, 0]
    assert (result.preemptions.tolist(), result.last_token.tolist()) == ([0, 1], [3, 5])


def test_preempted_requests_come_back_in_order_of_arrival() -> None:
    server = InferenceServer(3, 16, 7, block_size=1)
    result = served(server, SECOND, *[(0.0, 2, 4)] * 3)
    assert result.preemptions.sum() > 0
    assert np.all(np.diff(result.last_token) > 0)


def test_steps_that_begin_before_the_end_are_carried_out_and_the_rest_is_in_flight() -> None:
    result = served(InferenceServer(1, 64, 64), SECOND, (0.0, 4, 3), (0.0, 4, 3), until=3.5)
    assert (result.end, result.written.tolist()) == (4, [3, 1])
    assert math.isnan(result.last_token[1])


def test_no_requests_give_no_percentiles() -> None:
    result = serve(InferenceServer(1, 1, 1), SECOND, load([], [], []))
    assert result.steps == 0
    assert all(math.isnan(x) for x in result.percentiles("wait"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_num_seqs": 0}, r"max_num_seqs\(=0\)"),
        ({"blocks": -1}, r"blocks\(=-1\)"),
        ({"block_size": 1.5}, r"block_size\(=1.5\)"),
        ({"max_num_batched_tokens": 3}, r"max_num_batched_tokens\(=3\) must be >= max_num_seqs\(=4\)"),
        ({"prefill": "none"}, r"prefill\(='none'\)"),
    ],
)
def test_a_server_that_cannot_be_is_refused(change: dict[str, object], said: str) -> None:
    limits: dict[str, object] = {"max_num_seqs": 4, "max_num_batched_tokens": 8, "blocks": 8} | change
    with pytest.raises(UsageError, match=said):
        InferenceServer(**limits)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [(0, 1, 0, 1), (-1, 0, 1, 0), (math.nan, 0, 1, 0), (1, math.inf, 0, 0)])
def test_a_step_time_that_cannot_be_is_refused(seconds: tuple[float, float, float, float]) -> None:
    with pytest.raises(UsageError, match="0"):
        StepTime(*seconds)


@pytest.mark.parametrize(
    ("arrival", "prompt", "output", "said"),
    [
        ([0, 2, 1], [1, 1, 1], [1, 1, 1], r"request 2 at 1 s comes after 2 s; sort the load"),
        ([0, 1], [1], [1, 1], "2 arrivals, 1 prompts"),
        ([0, math.nan], [1, 1], [1, 1], "arrival 1 has no finite time"),
        ([0], [0], [1], r"prompt of request 0 \(=0\)"),
        ([0], [1], [1.5], r"output of request 0 \(=1.5\)"),
        ([0], [1], [math.nan], r"output of request 0 \(=nan\)"),
        ([0], [1], [math.inf], r"output of request 0 \(=inf\)"),
    ],
)
def test_a_load_that_cannot_be_is_refused(
    arrival: list[float], prompt: list[int], output: list[int], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        load(arrival, prompt, output)


def test_a_sampling_interval_must_be_positive() -> None:
    with pytest.raises(UsageError, match=r"sample_every\(=0\)"):
        serve(InferenceServer(1, 1, 1), SECOND, load([], [], []), sample_every=0)


# Laws

requests = st.lists(
    st.tuples(st.integers(0, 40).map(lambda n: n / 4), st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=25
)
servers = st.builds(
    lambda seqs, extra, blocks, size, prefill: InferenceServer(seqs, seqs + extra, blocks, size, prefill),
    st.integers(1, 6),
    st.integers(0, 40),
    st.integers(1, 30),
    st.sampled_from([1, 4, 16]),
    st.sampled_from([CHUNKED, PREFILL_FIRST]),
)
step_times = st.builds(
    StepTime, *(st.sampled_from(choice) for choice in ((0.5, 1), (0, 0.125), (0, 0.25), (0, 0.0625)))
)


def made(drawn: list[tuple[float, int, int]]) -> TokenLoad:
    """A load of drawn requests in order of arrival."""
    arrival, prompt, output = zip(*sorted(drawn), strict=True)
    return load(arrival, prompt, output)


@settings(max_examples=few(100), deadline=None)
@given(servers, step_times, requests)
def test_every_token_is_written_once_and_no_block_is_used_twice(
    server: InferenceServer, step: StepTime, drawn: list[tuple[float, int, int]]
) -> None:
    result = serve(server, step, made(drawn), sample_every=1e-9)
    kept = ~result.rejected
    assert np.array_equal(result.written[kept], result.load.output[kept])
    assert not result.written[result.rejected].any()
    assert result.series["written"].max(initial=0) == result.load.output[kept].sum()
    assert result.series["prefilled"].max(initial=0) >= result.load.prompt[kept].sum()
    assert (result.series["blocks"] <= server.blocks).all()
    assert (result.series["running"] <= server.max_num_seqs).all()
    assert all(result.series[name][-1:].sum() == 0 for name in ("blocks", "running", "waiting"))


@settings(max_examples=few(100), deadline=None)
@given(servers, step_times, requests)
def test_first_come_is_first_scheduled_and_times_are_in_order(
    server: InferenceServer, step: StepTime, drawn: list[tuple[float, int, int]]
) -> None:
    result = serve(server, step, made(drawn))
    kept = ~result.rejected
    assert (np.diff(result.scheduled[kept]) >= 0).all()
    assert (result.wait[kept] >= 0).all()
    assert (result.first_token[kept] > result.scheduled[kept]).all()
    assert (result.last_token[kept] >= result.first_token[kept]).all()
    assert (result.recomputed[kept] > 0).tolist() == (result.preemptions[kept] > 0).tolist()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(servers, step_times, requests)
def test_a_clock_of_half_the_speed_doubles_every_time(
    server: InferenceServer, step: StepTime, drawn: list[tuple[float, int, int]]
) -> None:
    slow = StepTime(2 * step.fixed, 2 * step.per_prefill_token, 2 * step.per_sequence, 2 * step.per_context_token)
    once = serve(server, step, made(drawn))
    twice = serve(server, slow, made([(2 * at, prompt, output) for at, prompt, output in drawn]))
    assert np.array_equal(2 * once.last_token, twice.last_token, equal_nan=True)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(servers, step_times, requests, st.floats(0, 30))
def test_what_happened_by_a_time_does_not_depend_on_what_comes_later(
    server: InferenceServer, step: StepTime, drawn: list[tuple[float, int, int]], until: float
) -> None:
    whole, part = serve(server, step, made(drawn)), serve(server, step, made(drawn), until=until)
    seen = np.isfinite(part.last_token)
    assert np.array_equal(part.last_token[seen], whole.last_token[seen])
    assert (whole.last_token[~seen & ~whole.rejected] >= until).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "server", [InferenceServer(16, 64, 90, block_size=4), InferenceServer(8, 64, 50, 4, copies=2, prefix_cache=True)]
)
def test_the_plain_kernel_gives_the_same_bits(server: InferenceServer) -> None:
    draw = np.random.default_rng(7)
    prefixes = [tuple(range(k)) for k in draw.integers(0, 3, 200).tolist()]
    arrival, prompt = np.cumsum(draw.exponential(0.3, 200)), draw.integers(8, 90, 200)
    crowd = TokenLoad(arrival, prompt, draw.integers(1, 60, 200), tuple(prefixes))
    step = StepTime(0.0123, 4.7e-4, 1.3e-5, 9.1e-7)
    results = [serve(server, step, crowd)]
    with plain_kernel() as modules:
        assert not hasattr(modules[-1].advance, "py_func")
        results.append(serve(server, step, crowd))
    assert results[0].preemptions.sum() > 0
    assert any(results[0].cached) == server.prefix_cache
    for name in ("scheduled", "first_token", "last_token", "preemptions", "recomputed", "cached"):
        compiled, interpreted = (getattr(result, name) for result in results)
        assert np.array_equal(compiled, interpreted, equal_nan=True)


def test_series_longer_than_one_piece_are_whole() -> None:
    result = serve(
        InferenceServer(1, 16, 700, block_size=16), StepTime(0.001, 0, 0, 0), load([0], [1], [9000]), sample_every=1e-9
    )
    assert result.steps == len(result.series["time"]) == 9000
    assert np.array_equal(result.series["written"], np.arange(1, 9001))
