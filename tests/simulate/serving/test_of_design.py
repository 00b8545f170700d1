"""Inference servers in a design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.language.reading import read_text
from coherence.simulate.processes import has_requests
from coherence.simulate.serving.chain import in_turn
from coherence.simulate.serving.of_design import engines_of, load_of
from coherence.simulate.serving.trace import ArrivalTrace, replayed_from_file
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


# -- what a setting says of them ----------------------------------------------------------------------


def test_arrivals_and_tokens_of_a_file_replace_chance(tmp_path: Path) -> None:
    rows = ["1,800,3", "2,10,200", "2.5,10,1"]
    (tmp_path / "t.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows), encoding="utf-8")
    (engine,) = engines_of(read_text(DESIGN, "d.yaml"), first_burst=60.0)
    traces = {"chat": replayed_from_file(tmp_path / "t.csv")}
    load = load_of(engine, seed=3, until=1.2, traces=traces)
    assert load.arrival.tolist() == [0, 1]
    assert load.prompt.tolist() == [800, 10]
    assert load.output.tolist() == [3, 200]


def test_a_study_says_what_was_replayed_and_no_longer_that_it_was_chance(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("time\n" + "".join(f"{t}\n" for t in range(0, 100, 5)), encoding="utf-8")
    setting = Setting(100.0, seeds=(1,), trace={"chat": replayed_from_file(tmp_path / "t.csv")})
    found = study(read_text(DESIGN, "d.yaml"), setting)
    assert next(r.value for r in found.readings if r.what == "requests") == pytest.approx(0.2)
    assert found.assumptions[-1] == "requests of chat arrive as in the file; their tokens are drawn by chance"
    assert not any("Poisson" in note for note in found.assumptions)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"trace": {"nosuch": ArrivalTrace((0.0,))}}, "no requests come from 'nosuch': known: chat"),
        ({"pauses": (("nosuch", 1.0, 2.0),)}, "no requests go to 'nosuch': known: engine"),
    ],
)
def test_names_that_no_run_reads_are_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        study(read_text(DESIGN, "d.yaml"), Setting(10.0, seeds=(1,), **setting))


def readings(text: str, setting: Setting) -> dict[str, float]:
    """Returns the numbers of a study of one server, or of the last one of a chain."""
    return {reading.what: reading.value for reading in study(read_text(text, "d.yaml"), setting).readings}


def test_copies_share_the_requests() -> None:
    text = DESIGN.replace("rate: 2 req/s", "rate: 20 req/s").replace("4000 block", "1000 block")
    alone = readings(text, Setting(120.0, seeds=(1,)))
    four = readings(text.replace("inference_server,", "inference_server, copies: 4,"), Setting(120.0, seeds=(1,)))
    assert four["wait P99"] < 0.1 * alone["wait P99"]
    assert four["cache in use"] < alone["cache in use"]


def test_a_pause_makes_requests_wait() -> None:
    calm = readings(DESIGN, Setting(60.0, seeds=(1,)))
    paused = readings(DESIGN, Setting(60.0, seeds=(1,), pauses=(("engine", 20.0, 5.0),)))
    assert calm["wait P99"] < 0.1
    assert 4.0 < paused["wait P99"] <= 5.1


def test_a_shared_prefix_is_computed_once() -> None:
    text = DESIGN.replace("prompt: {mean: 600 token, cv: 1.2, max: 4000 token}", "prompt: 2000 token")
    text = text.replace("30 us/token", "200 us/token")
    apart = readings(text, Setting(60.0, seeds=(1,)))
    shared = readings(
        text.replace("answer: 200 token", "answer: 200 token, prefix: 1600 token"), Setting(60.0, seeds=(1,))
    )
    assert shared["first token P50"] < 0.4 * apart["first token P50"]


CHAIN = """\
coherence: 1
workload: {chat: {rate: 1 req/s, prompt: 1000 token, answer: 10 token}}
components:
  prefill: {uses: inference_server, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 100 us/token}
  decode: {uses: inference_server, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 100 us/token,
    transfer_time: 5 ms, transfer_per_token: 20 us/token}
calls: [{from: chat, to: prefill}, {from: prefill, to: decode}]
"""


def test_prompts_computed_elsewhere_come_with_their_caches(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("time,prompt,answer\n0,1000,10\n50,1000,10\n", encoding="utf-8")
    setting = Setting(100.0, seeds=(1,), trace={"chat": replayed_from_file(tmp_path / "t.csv")})
    found = {(r.of, r.what): r.value for r in study(read_text(CHAIN, "d.yaml"), setting).readings}
    assert found["prefill", "first token P50"] == pytest.approx(0.110)  # one step: 10 ms + 1000 x 100 us
    first = 0.110 + 0.005 + 0.020 + 0.0101  # its transfer, and a step with the last token of the prompt
    assert found["decode", "first token P50"] == pytest.approx(first)
    assert found["decode", "whole answer P50"] == pytest.approx(first + 9 * 0.010)


def test_what_moves_waits_for_what_moves_before_it() -> None:
    assert in_turn(np.array([0.0, 1.0, 9.0]), np.array([3.0, 2.0, 1.0])).tolist() == [3.0, 5.0, 10.0]
    assert in_turn(np.zeros(0), np.zeros(0)).tolist() == []


def test_a_server_behind_another_component_is_refused() -> None:
    text = DESIGN.replace("components:", "components:\n  gateway: {copies: 1}").replace(
        "{from: chat, to: engine}", "{from: chat, to: gateway}\n  - {from: gateway, to: engine}"
    )
    with pytest.raises(InputError, match="gateway calls engine: simulate runs requests that workloads send"):
        engines_of(read_text(text, "d.yaml"), first_burst=0)
