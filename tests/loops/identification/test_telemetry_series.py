"""Series of telemetry from tables: what they tell, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.loops.identification.oscillation import Oscillation, Silence
from coherence.loops.identification.telemetry_series import (
    TelemetrySeries,
    column_answer,
    column_json,
    hidden_from,
    pair_response,
    read_series,
    render_column,
    render_response,
    response_json,
)
from coherence.loops.identification.transient import RingDown

TIME = np.arange(600) * 15.0


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(600)


SWING = TelemetrySeries(15.0, {"load": np.sin(2 * np.pi * TIME / 323) + 0.3 * noise(1), "still": noise(2)})


def table(path: Path, rows: list[str], header: str = "time,load") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_swing_has_its_period_and_the_faster_one_that_looks_the_same() -> None:
    answer = column_answer(SWING, "load")
    assert isinstance(answer.swing, Oscillation)
    assert answer.swing.period.holds(323)
    assert list(answer.alike) == pytest.approx([1 / (1 / 15 - 1 / answer.swing.period.value)])
    words = "\n".join(render_column(answer))
    assert "would look the same" in words
    assert column_json(answer)["swing"]["period"]["value"] == answer.swing.period.value


def test_noise_has_no_swing_and_says_so() -> None:
    answer = column_answer(SWING, "still")
    assert isinstance(answer.swing, Silence)
    assert "no swing" in render_column(answer)[1]
    assert answer.effective == pytest.approx(600, rel=0.15)


def test_a_transient_has_period_and_decay() -> None:
    late = np.exp(-TIME / 900) * np.cos(2 * np.pi * TIME / 300) + 0.01 * noise(3)
    answer = column_answer(TelemetrySeries(15.0, {"x": late}), "x", transient=True)
    assert isinstance(answer.swing, RingDown)
    assert answer.swing.period.value == pytest.approx(300, rel=0.01)
    assert answer.swing.decay_time.value == pytest.approx(900, rel=0.1)


def test_a_response_has_gain_and_delay() -> None:
    load = noise(4)
    series = TelemetrySeries(15.0, {"load": load, "latency": 2 * np.roll(load, 4) + 0.05 * noise(5)})
    answer = pair_response(series, "load", "latency")
    assert answer.gain.holds(2)
    assert answer.delay.value + answer.time_constant.value == pytest.approx(60, abs=15)
    assert "gain 2" in render_response("load", "latency", answer)[0]
    assert response_json("load", "latency", answer)["gain"]["value"] == pytest.approx(2, rel=0.05)


def test_loops_of_a_design_that_the_samples_hide_are_named() -> None:
    (line,) = hidden_from(SWING, {"hpa": 20.0}, [])
    assert line.startswith("hpa: a period of 20 s scraped every 15 s shows as a period of 60 s")
    assert not hidden_from(SWING, {"hpa": 300.0}, [])


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        (["0,1", "15,x"], 3, "`x` of load is no number"),
        (["0,1", "15,"], 3, "load is missing"),
        ([*(f"{15 * k},1" for k in range(9)), "500,1"], 11, "samples are 15 s apart, and here 380 s"),
        (["0,1"], 1, "1 samples"),
    ],
)
def test_tables_that_are_no_series_are_refused_with_their_line(
    rows: list[str], line: int, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read_series(table(tmp_path / "a.csv", rows))
    (problem,) = caught.value.problems
    assert problem.place.line == line
    assert words in problem.message


def test_a_table_needs_a_column_of_time_and_a_known_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a column `time`"):
        read_series(table(tmp_path / "a.csv", ["1,2"], "when,load"))
    with pytest.raises(UsageError, match="'lod' is no column: did you mean 'load'"):
        SWING.column("lod")
    with pytest.raises(InputError, match="No such file"):
        read_series(tmp_path / "none.csv")
