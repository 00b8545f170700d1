"""Inference servers in a design."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.processes import has_requests
from coherence.simulate.serving.of_design import engines_of, load_of
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

DESIGN = """\
coherence: 1
workload:
  chat: {rate: 2 req/s, prompt: {mean: 600 token, cv: 1.2, max: 4000 token}, answer: 200 token}
components:
  engine: {uses: inference_server, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 30 us/token}
calls:
  - {from: chat, to: engine}
"""


def test_a_part_and_a_workload_make_an_engine() -> None:
    (engine,) = engines_of(read_text(DESIGN, "d.yaml"), first_burst=60.0)
    assert (engine.server.max_num_seqs, engine.server.max_num_batched_tokens, engine.server.blocks) == (256, 2048, 4000)
    assert (engine.step.fixed, engine.step.per_prefill_token) == (0.010, 30e-6)
    assert not has_requests(read_text(DESIGN, "d.yaml"))


def test_lengths_have_the_mean_and_variation_that_are_stated() -> None:
    text = DESIGN.replace(", max: 4000 token", "").replace("rate: 2 req/s", "rate: 100 req/s")
    (engine,) = engines_of(read_text(text, "d.yaml"), first_burst=60.0)
    load = load_of(engine, seed=3, until=1000.0)
    assert set(load.output) == {200}
    assert np.mean(load.prompt) == pytest.approx(600, rel=0.02)
    assert np.std(load.prompt) / np.mean(load.prompt) == pytest.approx(1.2, rel=0.05)


def test_the_longest_is_kept_to() -> None:
    (engine,) = engines_of(read_text(DESIGN, "d.yaml"), first_burst=60.0)
    load = load_of(engine, seed=3, until=2000.0)
    assert load.prompt.max() <= 4000
    assert load.prompt.min() >= 1


def test_little_memory_puts_requests_back() -> None:
    def of(blocks: int) -> dict[str, float]:
        text = DESIGN.replace("4000 block", f"{blocks} block")
        found = study(read_text(text, "d.yaml"), Setting(120.0, seeds=(1, 2)))
        return {reading.what: reading.value for reading in found.readings}

    scarce, plenty = of(300), of(4000)
    assert plenty["put back"] == 0.0
    assert scarce["put back"] > 0.0
    assert scarce["whole answer P99"] > plenty["whole answer P99"]


def test_missing_lengths_are_asked_for() -> None:
    text = DESIGN.replace(", answer: 200 token", "")
    with pytest.raises(InputError, match="engine needs the answer of chat"):
        engines_of(read_text(text, "d.yaml"), first_burst=60.0)
