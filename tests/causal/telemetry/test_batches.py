"""Tables in batches: the same rows as reading whole, in the order that is asked for, errors with their cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.telemetry.batches import FileTable, RowBatch, _unreadable, batches, table_of
from coherence.causal.telemetry.parts import TelemetryOptions

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pandas")

ROWS = 5000  # more than two vectors of 2048


def csv_of(folder: Path, rows: Sequence[str], header: str = "time,a,b") -> Path:
    path = folder / "x.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def parquet_of(folder: Path, csv: Path) -> Path:
    path = folder / "x.parquet"
    duckdb.connect().execute(f"COPY (FROM '{csv}') TO '{path}' (FORMAT parquet)")
    return path


def opened(path: Path, **options: str) -> FileTable:
    of = table_of(path, TelemetryOptions(**options), parquet=path.suffix == ".parquet")  # type: ignore[arg-type]
    assert of is not None
    return of


def read(path: Path, folder: Path, *, rows: int = 2048, sort: bool = False, memory: str = "512MB") -> list[RowBatch]:
    return list(batches(opened(path), rows, sort=sort, memory=memory, folder=str(folder)))


@pytest.mark.parametrize("parquet", [False, True])
def test_batches_hold_every_row_once_in_order(parquet: bool, tmp_path: Path) -> None:
    path = csv_of(tmp_path, [f"{n},{n * n % 101},{n}.5" for n in range(ROWS)])
    path = parquet_of(tmp_path, path) if parquet else path
    parts = read(path, tmp_path)
    assert [(part.row, len(part.times)) for part in parts] == [(1, 2048), (2049, 2048), (4097, 904)]
    assert np.concatenate([part.times for part in parts]).tolist() == list(range(ROWS))
    assert np.concatenate([part.columns[0] for part in parts]).tolist() == [n * n % 101 for n in range(ROWS)]
    assert np.concatenate([part.columns[1] for part in parts]).tolist() == [n + 0.5 for n in range(ROWS)]


@pytest.mark.parametrize(("rows", "sizes"), [(1, [2048, 2048, 904]), (4096, [4096, 904]), (10_000, [ROWS])])
def test_a_batch_is_about_as_long_as_asked_for(rows: int, sizes: list[int], tmp_path: Path) -> None:
    path = csv_of(tmp_path, [f"{n},1,2" for n in range(ROWS)])
    assert [len(part.times) for part in read(path, tmp_path, rows=rows)] == sizes


@pytest.mark.parametrize("parquet", [False, True])
def test_rows_are_sorted_by_time_where_it_is_asked_for(parquet: bool, tmp_path: Path) -> None:
    path = csv_of(tmp_path, [f"{n},{n},0" for n in (3, 1, 2)])
    path = parquet_of(tmp_path, path) if parquet else path
    assert read(path, tmp_path)[0].times.tolist() == [3, 1, 2]
    (part,) = read(path, tmp_path, sort=True)
    assert part.times.tolist() == part.columns[0].tolist() == [1, 2, 3]


def test_what_is_absent_is_nan_and_what_is_infinite_stays(tmp_path: Path) -> None:
    (part,) = read(csv_of(tmp_path, ["0,1,inf", "1,,-inf", "2,NaN,2"]), tmp_path)
    assert np.isnan(part.columns[0]).tolist() == [False, True, True]
    assert part.columns[1].tolist() == [np.inf, -np.inf, 2]


def test_text_is_left_out_and_the_separator_is_found(tmp_path: Path) -> None:
    table = opened(csv_of(tmp_path, ["0;1;eu", "1;2;us"], "time;a;zone"))
    assert table.names == ("a",)
    assert [what for what, _, _ in table.left_out] == ["zone"]
    assert "eu" in table.left_out[0][1]
    assert table.origin.form == "wide CSV, in batches"


def test_text_that_is_a_time_is_read_as_one(tmp_path: Path) -> None:
    (part,) = read(csv_of(tmp_path, ["2024-05-01T12:00:00Z,1,2", "2024-05-01T12:00:05Z,3,4"]), tmp_path)
    assert part.times.tolist() == [1714564800, 1714564805]


def test_whole_nanoseconds_are_not_rounded(tmp_path: Path) -> None:
    start = 1714564800 * 10**9
    path = csv_of(tmp_path, [f"{start + 1_000_000_001 * n},{n},0" for n in range(3)])
    table = opened(path, time_unit="ns")
    assert "'c0': 'BIGINT'" in table.question
    (part,) = batches(table, 10, sort=False, memory="512MB", folder=str(tmp_path))
    assert np.diff(part.times) == pytest.approx([1.000000001] * 2, abs=3e-7)


def test_a_long_table_is_none_of_this_kind(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ["0,cpu,1"], "time,signal,value")
    assert table_of(path, TelemetryOptions(), parquet=False) is None
    assert table_of(parquet_of(tmp_path, path), TelemetryOptions(), parquet=True) is None


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (["0,1"], 2, "2 fields in a table of 3 columns"),
        (["0,1,2", "1,2,3,4"], 3, "4 fields in a table of 3 columns"),
        ([], 1, "no row"),
        ([*(f"{n},{n},0" for n in range(1500)), "1500,oops,0"], 1502, "'oops' in the column 'a' is not a number"),
        ([*(f"{n},{n},0" for n in range(1500)), "1500,1"], 1502, "cannot be read"),
        (["0,1,2", ",3,4"], 3, "row 3 has no time"),
    ],
)
def test_a_wrong_cell_is_told_with_its_line(rows: list[str], line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read(csv_of(tmp_path, rows), tmp_path)
    assert refused.value.problems[0].place.line == line


def test_a_table_without_signals_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="zone"):
        opened(csv_of(tmp_path, ["0,eu"], "time,zone"))


def test_too_little_memory_is_told_with_a_remedy(tmp_path: Path) -> None:
    table = opened(csv_of(tmp_path, ["0,1,2"]))
    error = _unreadable(table, RuntimeError("Out of Memory Error: could not allocate"))
    assert isinstance(error, UsageError)
    assert "memory=" in str(error)


def test_a_folder_with_a_quote_takes_what_does_not_fit(tmp_path: Path) -> None:
    folder = tmp_path / "it's"
    folder.mkdir()
    assert len(read(csv_of(tmp_path, ["0,1,2"]), folder)) == 1
