"""Inference servers in a design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.language.reading import read_text
from coherence.simulate.processes import has_requests
from coherence.simulate.serving.of_design import engines_of, load_of
from coherence.simulate.serving.trace import ArrivalTrace, replayed_from_csv
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
    traces = {"chat": replayed_from_csv(tmp_path / "t.csv")}
    load = load_of(engine, seed=3, until=1.2, traces=traces)
    assert load.arrival.tolist() == [0, 1]
    assert load.prompt.tolist() == [800, 10]
    assert load.output.tolist() == [3, 200]


def test_a_study_says_what_was_replayed_and_no_longer_that_it_was_chance(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("time\n" + "".join(f"{t}\n" for t in range(0, 100, 5)), encoding="utf-8")
    setting = Setting(100.0, seeds=(1,), trace={"chat": replayed_from_csv(tmp_path / "t.csv")})
    found = study(read_text(DESIGN, "d.yaml"), setting)
    assert next(r.value for r in found.readings if r.what == "requests") == pytest.approx(0.2)
    assert found.assumptions[-1] == "requests of chat arrive as in the file; their tokens are drawn by chance"
    assert not any("Poisson" in note for note in found.assumptions)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"trace": {"nosuch": ArrivalTrace((0.0,))}}, "no requests come from 'nosuch': known: chat"),
        ({"pauses": (("nosuch", 1.0, 2.0),)}, "no requests go to 'nosuch': the design has none that do"),
        ({"pauses": (("engine", 1.0, 2.0),)}, "engine cannot pause"),
    ],
)
def test_names_that_no_run_reads_are_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        study(read_text(DESIGN, "d.yaml"), Setting(10.0, seeds=(1,), **setting))


def test_copies_of_a_server_are_refused() -> None:
    text = DESIGN.replace("inference_server,", "inference_server, copies: 4,")
    with pytest.raises(InputError, match=r"4 copies of engine are not run: simulate runs one inference server"):
        engines_of(read_text(text, "d.yaml"), first_burst=60.0)
