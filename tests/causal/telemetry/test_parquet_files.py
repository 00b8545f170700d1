"""Parquet of the user's own: which columns are read, as what, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.telemetry.clocks import TimeColumn
from coherence.causal.telemetry.header import HeaderLayout
from coherence.causal.telemetry.parquet_files import columns_of, connection, picked, read_parquet, times_of
from coherence.causal.telemetry.parts import TelemetryOptions

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pandas")


def written(folder: Path, select: str) -> Path:
    path = folder / "x.parquet"
    duckdb.connect().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def values(path: Path, **options: object) -> dict[str, tuple[list[float], list[float]]]:
    """Returns signal -> (times, values)."""
    part = read_parquet(path, TelemetryOptions(**options))  # type: ignore[arg-type]
    return {signal.name: (samples.times.tolist(), samples.values.tolist()) for signal, samples in part.columns}


def test_every_number_is_a_signal_and_null_is_no_sample(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "SELECT * FROM (VALUES (0, 1::TINYINT, 1.5, true), (1, NULL, 2.5, false), (2, 3, NULL, true)) t(time, a, b, c)",
    )
    assert values(path) == {
        "a": ([0, 2], [1, 3]),
        "b": ([0, 1], [1.5, 2.5]),
        "c": ([0, 1, 2], [1, 0, 1]),
    }


def test_nan_is_a_value_that_is_no_number(tmp_path: Path) -> None:
    path = written(tmp_path, "SELECT * FROM (VALUES (0, 1.0), (1, 'NaN'::DOUBLE)) t(time, a)")
    (times, levels) = values(path)["a"]
    assert times == [0, 1]
    assert np.isnan(levels[1])


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        ("TIMESTAMP '2024-05-01 12:00:00.5'", 1714564800.5),
        ("TIMESTAMPTZ '2024-05-01 14:00:00+02'", 1714564800.0),
        ("DATE '2024-05-01'", 1714521600.0),
        ("TIMESTAMP_NS '2024-05-01 12:00:00.000000250'", 1714564800.00000025),
    ],
)
def test_moments_are_seconds_since_1970_in_utc(moment: str, seconds: float, tmp_path: Path) -> None:
    path = written(tmp_path, f"SELECT {moment} AS time, 1 AS a")
    assert values(path)["a"][0] == [seconds]


@pytest.mark.parametrize(
    ("unit", "number", "seconds"),
    [("ms", "1500::BIGINT", 1.5), ("s", "1500::DOUBLE", 1500.0), ("us", "2.5::DECIMAL(9, 1)", 2.5e-6)],
)
def test_numbers_are_times_in_the_unit_that_is_stated(unit: str, number: str, seconds: float, tmp_path: Path) -> None:
    path = written(tmp_path, f"SELECT {number} AS time, 1 AS a")
    assert values(path, time_unit=unit)["a"][0] == [pytest.approx(seconds)]


def test_text_and_lists_are_left_out_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "SELECT 0 AS time, 1 AS a, 'eu' AS zone, [1, 2] AS pair")
    part = read_parquet(path, TelemetryOptions())
    assert [signal.name for signal, _ in part.columns] == ["a"]
    assert [(what, why) for what, why, _ in part.origin.left_out] == [
        ("zone", "its values are VARCHAR, not numbers"),
        ("pair", "its values are INTEGER[], not numbers"),
    ]


def test_names_stand_as_they_do_in_the_file(tmp_path: Path) -> None:
    """Some write names that differ by case only; duckdb calls the second one `CPU_1`, and writes none such itself."""
    path = written(tmp_path, "SELECT 0 AS time, 1.0 AS cpu, 2.0 AS CPX")
    path.write_bytes(path.read_bytes().replace(b"CPX", b"CPU"))
    assert columns_of(path, connection(path))[0] == ["time", "cpu", "CPU"]
    assert values(path) == {"cpu": ([0], [1]), "CPU": ([0], [2])}


def test_nested_columns_keep_the_names_of_the_table(tmp_path: Path) -> None:
    path = written(tmp_path, "SELECT 0 AS time, {'x': 1, 'y': 2} AS pair, 3 AS a")
    names, types = columns_of(path, connection(path))
    assert names == ["time", "pair", "a"]
    assert types[1].startswith("STRUCT")
    assert values(path) == {"a": ([0], [3])}


LONG = """SELECT * FROM (VALUES (0, 'cpu', 'a', 1.0, 'gauge'), (0, 'cpu', 'b', 2.0, 'gauge'),
(1, 'cpu', 'a', NULL, 'gauge'), (1, 'hits', '', 4.0, 'counter')) t(time, signal, pod, value, kind)"""


def test_long_tables_group_by_signal_and_labels(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    assert values(path) == {'cpu{pod="a"}': ([0], [1]), 'cpu{pod="b"}': ([0], [2]), "hits": ([1], [4])}
    part = read_parquet(path, TelemetryOptions())
    assert part.kinds
    assert {signal.name: signal.kind for signal, _ in part.columns}["hits"] == "counter"
    assert part.origin.form == "long Parquet"


@pytest.mark.parametrize(
    ("select", "line", "message"),
    [
        ("SELECT NULL::BIGINT AS time, 1 AS a", 1, "row 1 has no time"),
        ("SELECT * FROM (VALUES (0, 1), (NULL, 2)) t(time, a)", 2, "row 2 has no time"),
        ("SELECT 0 AS time, 1 AS a LIMIT 0", 1, "the file has columns and no row"),
        ("SELECT 0 AS time, 'eu' AS zone", 1, "no"),
        (
            "SELECT * FROM (VALUES (0, 'a', 1), (1, '', 2)) t(time, signal, value)",
            2,
            "the name of the signal is missing",
        ),
        ("SELECT 'noon' AS time, 1 AS a", 1, "noon"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_row(select: str, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_parquet(written(tmp_path, select), TelemetryOptions())
    assert refused.value.problems[0].place.line == line


def test_rows_are_counted_on_from_those_before() -> None:
    column = np.ma.masked_array([0.0, 1.0, 2.0], [False, True, False])
    with pytest.raises(InputError, match="row 12 has no time"):
        times_of("x", TimeColumn("x", "time", None), column, 10)
    assert times_of("x", TimeColumn("x", "time", "ms"), np.ma.masked_array([0.0, 1500.0]), 10).tolist() == [0, 1.5]


@pytest.mark.parametrize(
    ("kind", "expression"),
    [
        ("DOUBLE", "c0::DOUBLE"), ("DECIMAL(9,2)", "c0::DOUBLE"), ("BIGINT", "c0::BIGINT"), ("BOOLEAN", "c0::BIGINT"),
        ("VARCHAR", "c0::VARCHAR"), ("TIMESTAMP", "epoch_ns(c0)"), ("DATE", "epoch_ns(c0)"),
        ("TIMESTAMP WITH TIME ZONE", "epoch_ns(c0)"),
    ],
)  # fmt: skip
def test_how_a_column_of_time_is_asked_for(kind: str, expression: str) -> None:
    """Whole numbers stay whole: nanoseconds since 1970 are more than a double holds."""
    assert picked(HeaderLayout(0, signals={1: "a"}), [kind, "FLOAT"], ["time", "a"]) == ([expression, "c1::DOUBLE"], [])


def test_text_that_is_no_signal_is_asked_for_as_text() -> None:
    shape = HeaderLayout(0, 1, 2, labels={3: "pod"})
    chosen, left_out = picked(shape, ["BIGINT", "VARCHAR", "DOUBLE[]", "INTEGER"], ["time", "signal", "value", "pod"])
    assert chosen == ["c0::BIGINT", "coalesce(c1::VARCHAR, '')", "", "coalesce(c3::VARCHAR, '')"]
    assert left_out == [("value", "its values are DOUBLE[], not numbers", "give numbers")]
