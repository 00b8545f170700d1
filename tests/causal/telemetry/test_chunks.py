"""Streams give what reading whole gives, in the order of time, piece by piece."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.data.series import Series
from coherence.causal.telemetry import aligned, chunks, read
from tests.peak_memory import PEAK

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pandas")

ROWS = 24_000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gauge, one with gaps, a counter with resets, one that is coarse, text; times that jitter, or do not."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(2)
    count = np.cumsum(rng.integers(0, 9, ROWS)) % 5000
    gauge, holes = rng.normal(size=ROWS), rng.random(ROWS) < 0.1
    for name, jitter in (("t", 0.2), ("r", 0.0)):
        times = 1714564800 + 5 * (np.arange(ROWS) + jitter * rng.uniform(-1, 1, ROWS))
        _write(folder, name, times, gauge, holes, count)
    return folder


def _write(
    folder: Path, name: str, times: np.ndarray, gauge: np.ndarray, holes: np.ndarray, count: np.ndarray
) -> None:  # fmt: skip
    lines = ["ts,gauge,a-b,n_total,coarse,zone\n"]
    for i in range(ROWS):
        hole, coarse = "" if holes[i] else repr(float(gauge[i] ** 2)), repr(float(gauge[i])) if i % 12 == 0 else ""
        lines.append(f"{float(times[i])!r},{float(gauge[i])!r},{hole},{count[i]},{coarse},eu\n")
    (folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")
    duckdb.connect().execute(f"COPY (FROM '{folder / name}.csv') TO '{folder / name}.parquet' (FORMAT parquet)")


def glued(parts: list[Series]) -> np.ndarray:
    return np.concatenate([part.values for part in parts])


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "step", "means"),
    [("t", 5.0, False), ("r", 5.0, False), ("r", 60.0, False), ("r", 60.0, True), ("r", 12.0, False)],
)
def test_chunks_are_the_whole_in_pieces(table: Path, name: str, ending: str, step: float, means: bool) -> None:
    whole = aligned(read(table / f"{name}.{ending}"), step=step, means=means, keep=("constant", "copies"))
    parts = list(chunks(table / f"{name}.{ending}", step=step, rows=2048, means=means))
    assert len(parts) > 1 or step > 5
    order = [parts[0].names.index(name) for name in whole.names]
    values = glued(parts)[:, order]
    assert values.shape == whole.values.shape
    np.testing.assert_allclose(values, whole.values, rtol=1e-9, atol=1e-9)
    assert (np.isnan(values) == np.isnan(whole.values)).all()
    assert parts[0].start == whole.start
    assert [one.what for one in parts[0].excluded] == ["zone"]
    for one, two in pairwise(parts):
        assert two.start == pytest.approx(one.start + one.step * len(one), abs=1e-6)


def test_an_overlap_repeats_the_last_rows(table: Path) -> None:
    plain = list(chunks(table / "t.csv", rows=2048))
    lapped = list(chunks(table / "t.csv", rows=2048, overlap=3))
    whole = glued(plain)
    np.testing.assert_array_equal(
        glued([lapped[0], *(Series(p.names, p.values[3:], p.step) for p in lapped[1:])]), whole
    )
    np.testing.assert_array_equal(lapped[1].values[:3], lapped[0].values[-3:])
    assert lapped[1].start == pytest.approx(plain[1].start - 3 * plain[1].step)


def test_gram_matrices_of_chunks_add_up(table: Path) -> None:
    whole = aligned(read(table / "t.csv"), step=5, keep=("constant", "copies"))
    total = sum(np.nan_to_num(p.values).T @ np.nan_to_num(p.values) for p in chunks(table / "t.csv", step=5, rows=2048))
    order = [("gauge", "a-b", "n_total", "coarse").index(name) for name in whole.names]
    expected = np.nan_to_num(whole.values).T @ np.nan_to_num(whole.values)
    np.testing.assert_allclose(total[np.ix_(order, order)], expected, rtol=1e-9)  # type: ignore[index]


def test_files_that_follow_one_another(table: Path, tmp_path: Path) -> None:
    text = (table / "t.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "1.csv").write_text("".join(text[:12_001]), encoding="utf-8")
    (tmp_path / "2.csv").write_text("".join([text[0], *text[12_001:]]), encoding="utf-8")
    parts = glued(list(chunks([tmp_path / "1.csv", tmp_path / "2.csv"], rows=2048)))
    np.testing.assert_allclose(parts, glued(list(chunks(table / "t.csv", rows=2048))), rtol=1e-12)
    with pytest.raises(InputError, match="time goes back"):
        list(chunks([tmp_path / "2.csv", tmp_path / "1.csv"]))
    (tmp_path / "3.csv").write_text("ts,other\n0,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="its columns differ"):
        list(chunks([tmp_path / "1.csv", tmp_path / "3.csv"]))


def test_rows_out_of_order_are_refused_or_sorted(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    order = np.random.default_rng(4).permutation(500)
    path.write_text("time,x\n" + "".join(f"{t},{t * t % 17}\n" for t in order), encoding="utf-8")
    with pytest.raises(InputError, match=r"sort=True"):
        list(chunks(path, step=1))
    assert glued(list(chunks(path, step=1, sort=True)))[:, 0].tolist() == [t * t % 17 for t in range(500)]


def test_a_long_gap_is_cut_into_pieces(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("time,x\n0,1\n1,2\n2,3\n50000,4\n", encoding="utf-8")
    parts = list(chunks(tmp_path / "x.csv", step=1, rows=1000))
    assert max(map(len, parts)) == 1000
    assert np.isfinite(glued(parts)).sum() == 4
    assert len(glued(parts)) == 50_001


def test_long_tables_are_read_whole_and_cut(tmp_path: Path) -> None:
    rows = "".join(f"{t},{name},{t * k}\n" for t in range(100) for k, name in ((1, "a"), (2, "b")))
    (tmp_path / "x.csv").write_text("time,signal,value\n" + rows, encoding="utf-8")
    parts = list(chunks(tmp_path / "x.csv", rows=30, overlap=2))
    assert [len(part) for part in parts] == [30, 32, 32, 12]
    assert parts[1].start == 28


def test_units_and_kinds_are_stated_for_streams_too(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("time,x,n\n0,1,0\n1,2,5\n2,4,9\n", encoding="utf-8")
    (part,) = chunks(tmp_path / "x.csv", units={"x": "ms"}, kinds={"n": "counter"})
    assert part["x"].tolist() == [0.001, 0.002, 0.004]
    assert part["n"].tolist()[1:] == [5, 4]
    assert part.units == {"x": "s", "n": "1/s"}
    with pytest.raises(UsageError, match="no signal 'y'"):
        list(chunks(tmp_path / "x.csv", units={"y": "ms"}))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    import subprocess
    import sys

    columns = ", ".join(f"random() AS c{i}" for i in range(30))
    peaks = []
    for rows in (300_000, 1_200_000):
        path = tmp_path / f"{rows}.parquet"
        select = f"SELECT i::DOUBLE AS time, {columns} FROM range({rows}) r(i)"  # noqa: S608
        duckdb.connect().execute(f"COPY ({select}) TO '{path}'")
        code = (
            "import sys; from coherence.causal.telemetry import chunks\n"
            "assert sum(len(s) for s in chunks(sys.argv[1], memory='128MB', rows=16384)) == int(sys.argv[2])\n"
            f"print({PEAK})"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path), str(rows)], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout))
    assert peaks[1] < 1.25 * peaks[0]
