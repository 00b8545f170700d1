"""Tables as Parquet: what is read back is what was written, absent cells, NaN and odd names included."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.simulate.telemetry.tables_parquet import BATCH, load, save

duckdb = pytest.importorskip("duckdb")

Cell = float | str | None


def written(folder: Path, rows: list[tuple[Cell, ...]], *, header: tuple[str, ...] = ("time", "a", "where")) -> Path:
    path = folder / "t.parquet"
    save(path, header, rows, ("where",))
    return path


def read(path: Path) -> list[tuple[int, tuple[Cell, ...]]]:
    return [(number, tuple(row)) for number, row in load(path)[1]]


def test_an_absent_cell_is_null_and_nan_is_a_number(tmp_path: Path) -> None:
    path = written(tmp_path, [(0.0, None, "x"), (1.0, math.nan, None), (2.0, -math.inf, "")])
    first, second, third = (row for _, row in read(path))
    assert first == (0.0, None, "x")
    assert second[0] == 1.0
    assert isinstance(second[1], float)
    assert math.isnan(second[1])
    assert second[2] is None
    assert third == (2.0, -math.inf, "")
    question = 'SELECT count(a), count("where") FROM read_parquet(?)'
    assert duckdb.connect().execute(question, [str(path)]).fetchone() == (2, 2)  # as any other reader sees it


def test_numbers_are_doubles_and_texts_are_strings(tmp_path: Path) -> None:
    path = written(tmp_path, [(0, 1, "1")])
    types = duckdb.connect().execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    assert [row[:2] for row in types] == [("time", "DOUBLE"), ("a", "DOUBLE"), ("where", "VARCHAR")]


def test_names_and_paths_may_hold_quotes(tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    save(path, ('cpu{pod="a"}', "o'k", " "), [(1.0, 2.0, 3.0)], ())
    header, rows = load(path)
    assert header == ('cpu{pod="a"}', "o'k", " ")
    assert [tuple(row) for _, row in rows] == [(1.0, 2.0, 3.0)]


def test_a_table_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    path = written(tmp_path, [])
    header, rows = load(path)
    assert header == ("time", "a", "where")
    assert list(rows) == []


def test_rows_are_numbered_from_one_through_all_batches(tmp_path: Path) -> None:
    path = written(tmp_path, [(float(n), None, None) for n in range(BATCH + 3)])
    numbers = [(number, row[0]) for number, row in read(path)]
    assert numbers[:2] == [(1, 0.0), (2, 1.0)]
    assert numbers[BATCH - 1 :] == [(BATCH + k, float(BATCH + k - 1)) for k in range(4)]


@pytest.mark.parametrize(
    "header", [("time", "a", "A"), ("time", "a", "a"), ("time", "straße", "STRASSE"), ("t", "a\0", "b")]
)
def test_names_that_parquet_cannot_tell_apart_are_refused(header: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be a column of Parquet"):
        written(tmp_path, [(0.0, 1.0, 2.0)], header=header)
    assert not (tmp_path / "t.parquet").exists()


def test_a_row_of_another_width_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)"):
        written(tmp_path, [(0.0, 1.0, "x"), (1.0, 2.0)])


@pytest.mark.parametrize("content", [None, b"time,a\n0,1\n"])
def test_a_file_that_is_none_is_refused_in_one_line(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read") as refused:
        load(path)
    (problem,) = refused.value.problems
    assert problem.place.file == str(path)
    assert "\n" not in problem.message


CELLS = st.none() | st.floats(allow_nan=False)
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)


@given(st.lists(st.tuples(st.floats(allow_nan=False), CELLS, TEXTS), max_size=8))
def test_what_is_read_is_what_was_written(rows: list[tuple[Cell, ...]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert [row for _, row in read(written(Path(folder), rows))] == rows
