"""Keys of an inference server: what they make of a step, and those that would change nothing."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.machine import WHOLE
from coherence.simulate.serving.of_design import engines_of
from coherence.simulate.serving.server import load
from tests.simulate.serving.test_of_design import DESIGN


def test_flags_and_counts_are_whole_numbers() -> None:
    assert {"admits_whole", "prefix_cache", "copies"} <= set(WHOLE)


def test_a_group_of_accelerators_divides_a_step_and_adds_its_all_reduces() -> None:
    keys = "tensor_parallel: 4, all_reduces: 64, all_reduce_time: 20 us, all_reduce_per_token: 10 ns/token,"
    (engine,) = engines_of(
        read_text(DESIGN.replace("inference_server,", f"inference_server, {keys}"), "d.yaml"), first_burst=0
    )
    assert engine.step.fixed == pytest.approx(0.010 / 4 + 64 * 20e-6)
    assert engine.step.per_prefill_token == pytest.approx(30e-6 / 4 + 64 * 10e-9)
    assert engine.step.per_sequence == pytest.approx(64 * 10e-9)


def test_a_step_reads_the_experts_that_its_tokens_choose() -> None:
    keys = "experts: 8, experts_per_token: 2, experts_time: 8 ms,"
    text = DESIGN.replace("inference_server,", f"inference_server, {keys}").replace(
        "prompt: {mean: 600 token, cv: 1.2, max: 4000 token}", "prompt: 1 token"
    )
    (engine,) = engines_of(read_text(text, "d.yaml"), first_burst=0)
    served = serve(engine.server, engine.step, load([0.0], [1], [3]))
    assert served.last_token[0] - served.first_token[0] == pytest.approx(2 * (0.010 + 0.008 * 2 / 8))
    crowd = serve(engine.server, engine.step, load([0.0] * 200, [1] * 200, [2] * 200))
    assert crowd.last_token[0] - crowd.first_token[0] == pytest.approx(0.010 + 0.008)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("all_reduces: 64", "all_reduces of engine changes nothing here"),
        ("all_reduce_time: 1 ms, tensor_parallel: 2", "all_reduce_time of engine changes nothing here"),
        ("experts_per_token: 2", "experts_per_token of engine changes nothing here"),
        ("experts: 8, expert_parallel: 1", "expert_parallel of engine changes nothing here"),
        ("transfer_time: 1 ms", "transfer_time of engine changes nothing here"),
        ("experts: 8, experts_per_token: 9, experts_time: 1 ms", "experts of a token"),
        ("max_num_seqs: 4000", "max_num_batched_tokens"),
        ("experts: 2 * engine.max_num_seqs", "experts of engine is no number"),
        ("admits_whole: 0.5", "admits_whole of engine .=0.5. is no whole number"),
    ],
)
def test_keys_without_effect_are_refused_by_name(keys: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        engines_of(
            read_text(DESIGN.replace("inference_server,", f"inference_server, {keys},"), "d.yaml"), first_burst=0
        )
