"""Arrivals that are read as a run comes to them are those that are read at once, and what is wrong is named."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.simulate.requests.draws import BLOCK
from coherence.simulate.serving import streamed_trace
from coherence.simulate.serving.streamed_trace import StreamedTimes, StreamedTrace, trace_of
from coherence.simulate.serving.trace import ArrivalTrace, replayed_from_file
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

STATION = """
coherence: 1
workload: {web: {rate: 9 req/s, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 3}}
calls: [{from: web, to: s}]
"""


def file_of(folder: Path, text: str, name: str = "trace.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def streamed(path: str) -> tuple[float, ...]:
    return tuple(time for block in StreamedTimes(path).blocks() for time in block.tolist())


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
def test_times_are_those_of_the_whole_file(tmp_path_factory: pytest.TempPathFactory, steps: list[int]) -> None:
    times = (10**18 + np.cumsum(steps)).tolist()
    path = file_of(tmp_path_factory.mktemp("t"), "".join(f"{t}\n" for t in ["arrival_time_ns", *times]))
    assert streamed(path) == replayed_from_file(path).times


@pytest.mark.parametrize("count", [65_535, 65_536, 65_537, 140_000])
def test_no_time_is_lost_between_two_blocks(tmp_path: Path, count: int) -> None:
    path = file_of(tmp_path, "time\n" + "".join(f"{k / 8}\n" for k in range(count)))
    assert streamed(path) == tuple(k / 8 for k in range(count))


def test_dates_and_requests_without_an_answer_are_read_alike(tmp_path: Path) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:46.68,374,44", "2023-11-16 18:15:46.7,3,0",
            "", "2023-11-16 18:15:50.9,8,2"]  # fmt: skip
    path = file_of(tmp_path, "\n".join(rows))
    assert streamed(path) == replayed_from_file(path).times == (0.0, 4.22)


@pytest.mark.parametrize(("rows", "line", "words"), [
    (["1", "2", "x"], 4, "'x' in column 'time' is not a time"),
    (["1", "", "3", "2"], 5, "time 2 is before 3 of the arrival above"),
    (["1", ",x", "3"], 3, "no time in column 'time'"),
    (["1", "nan"], 3, "is not a time"),
    (["1", "2023-11-16 18:15:46"], 3, "mixes kinds of time"),
    ([], 1, "the file has no arrivals"),
])  # fmt: skip
def test_the_line_and_the_value_of_a_hostile_file_are_named(
    tmp_path: Path, rows: list[str], line: int, words: str
) -> None:
    path = file_of(tmp_path, "\n".join(["time,more", *rows]) + "\n")
    with pytest.raises(InputError) as caught:
        streamed(path)
    (problem,) = caught.value.problems
    assert (problem.place.file, problem.place.line) == (path, line)
    assert words in problem.message
    assert problem.remedy


def test_a_run_over_a_stream_is_the_run_over_the_file(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    times = np.cumsum(random.exponential(0.05, 4000))
    path = file_of(tmp_path, "time\n" + "".join(f"{t!r}\n" for t in times.tolist()))
    design = read_text(STATION, "d.yaml")
    traces: list[ArrivalTrace | StreamedTrace] = [replayed_from_file(path), StreamedTrace(path)]
    first, second = (study(design, Setting(150.0, seeds=(1, 2), trace={"web": trace})) for trace in traces)
    assert (first.readings, first.notes, first.assumptions) == (second.readings, second.notes, second.assumptions)
    assert first.samples == second.samples


def test_files_are_streamed_from_their_size_on(tmp_path: Path) -> None:
    """No row of a large file is read to choose: its end is a hole here."""
    path = file_of(tmp_path, "time\n1\n")
    assert isinstance(trace_of(path), ArrivalTrace)
    with Path(path).open("r+b") as file:
        file.truncate(streamed_trace.STREAMED_FROM)
    assert isinstance(trace_of(path), StreamedTrace)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (3 * BLOCK, 15 * BLOCK):
        path = file_of(tmp_path, "time\n" + "".join(f"{k / 1024:.10f}\n" for k in range(count)))
        tracemalloc.start()
        assert sum(len(block) for block in StreamedTimes(path).blocks()) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    few, many = peaks
    assert many < 1.1 * few, "one block, not the file"
    assert many < 15 * BLOCK * 8, "less than its times as floats"


@pytest.mark.slow
def test_parquet_is_replayed_as_csv_is(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    csv, parquet = str(tmp_path / "a.csv"), str(tmp_path / "a.parquet")
    rows = "SELECT TIMESTAMP '2024-01-01' + INTERVAL (i * 250) MILLISECOND AS time, i + 1 AS prompt, 2 AS output"
    for place, form in ((csv, "csv, HEADER"), (parquet, "parquet")):
        duckdb.execute(f"COPY ({rows} FROM range(5000) t(i)) TO '{place}' (FORMAT {form})")
    assert replayed_from_file(parquet) == replayed_from_file(csv)
    assert streamed(parquet) == replayed_from_file(csv).times
    assert StreamedTrace(parquet).prompt[:3] == (1, 2, 3)


def test_a_damaged_parquet_is_an_error_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nonsense")
    design = file_of(tmp_path, STATION, "d.yaml")
    assert run(["simulate", design, "--arrivals", f"web={tmp_path / 'a.parquet'}"]) == 2
    assert "a.parquet:1:1: cannot be read" in capsys.readouterr().err


def test_the_command_names_a_line_far_into_a_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_trace, "STREAMED_FROM", 100)
    rows = [str(k / 10) for k in range(3000)]
    rows[2500] = "7"
    path = file_of(tmp_path, "\n".join(["time", *rows]))
    design = file_of(tmp_path, STATION, "d.yaml")
    assert run(["simulate", design, "--arrivals", f"web={path}", "--runs", "1"]) == 2
    assert f"{path}:2502:1: time 7 is before 249.9 of the arrival above" in capsys.readouterr().err
