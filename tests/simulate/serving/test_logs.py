"""Counters of a running server, from its logs to the keys of a design."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.cli._run import run
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.logs import read_counters
from coherence.simulate.serving.server import InferenceServer, StepTime
from tests.simulate.serving.test_fit import crowd

TRUTH = StepTime(0.012, 45e-6, 40e-6, 80e-9)
DESIGN = """\
coherence: 1
workload: {chat: {rate: 8 req/s, prompt: 700 token, answer: 200 token}}
components:
  engine: {uses: inference_server, max_num_seqs: 64, max_num_batched_tokens: 1024 token, blocks: 20000 block,
    step_time: 1 ms, per_prompt_token: 1 us/token}
calls: [{from: chat, to: engine}]
"""


def logs(folder: Path, *, clock: float = 0.0) -> Path:
    """Writes what a server would have logged, its series on its own clock or on that of its requests."""
    served = serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd(), sample_every=1.0)
    load, series = served.load, served.series
    columns = (load.arrival, load.prompt, load.output, served.first_token, served.last_token)
    names = ("queued_ts", "input_toks", "output_toks", "first_token_ts", "last_token_ts")
    rows = [dict(zip(names, (float(x) + (1000.0 if i in {0, 3, 4} else 0) for i, x in enumerate(row)), strict=True))
            for row in zip(*columns, strict=True)]  # fmt: skip
    (folder / "requests.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    times = series["time"] - load.arrival[0]
    seconds = np.diff(times, prepend=0.0)
    rates = [np.diff(series[name], prepend=0.0) / seconds for name in ("prefilled", "written")]
    lines = [f"{t + clock},{p},{w}" for t, p, w in zip(times, *rates, strict=True)]
    (folder / "timeseries.csv").write_text("t,prompt_throughput,gen_throughput\n" + "\n".join(lines), encoding="utf-8")
    return folder


def test_counters_are_on_the_clock_of_the_first_arrival(tmp_path: Path) -> None:
    counters = read_counters(logs(tmp_path))
    assert counters.edges[0] == 0.0
    assert counters.prefilled.sum() == pytest.approx(crowd().prompt.sum())
    assert counters.held[-1] == pytest.approx(0.0, abs=1.0)


def test_fit_prints_the_keys_of_the_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    command = ["fit", str(tmp_path / "design.yaml"), "--serving", f"engine={logs(tmp_path)}"]
    assert run([*command, "-o", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["servers"]
    assert row["requests"] == 400
    assert (row["step_time"], row["per_prompt_token"]) == pytest.approx((0.012, 45e-6), rel=0.04)
    assert run(command) == 0
    text = capsys.readouterr().out
    assert "fitted to what 400 requests made engine do, not to their waits" in text
    assert "  step_time: 0.01" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--serving", "nosuch=."], "no inference server 'nosuch'"),
        (["--serving", "engine"], "write SERVER=FOLDER"),
        (["--serving", "engine=/nowhere"], "has no requests.jsonl or requests.csv"),
        (["--serving", "engine=.", "--loss", "x"], "--loss would have no effect"),
    ],
)
def test_what_cannot_be_fitted_is_refused(
    tmp_path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    assert run(["fit", str(tmp_path / "design.yaml"), *options]) == 2
    assert words in capsys.readouterr().err


def test_columns_and_numbers_that_are_not_there_are_named(tmp_path: Path) -> None:
    folder = logs(tmp_path)
    (folder / "timeseries.csv").write_text("t,prompt_throughput\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column of written"):
        read_counters(folder)
    (folder / "timeseries.csv").write_text("t,prompt_throughput,gen_throughput\n1,x,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="'x' is no number"):
        read_counters(folder)
