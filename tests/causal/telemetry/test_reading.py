"""Files of a user's own are read as they are meant, and how is told."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.base.places import Place
from coherence.causal.telemetry import aligned, named, read
from coherence.causal.telemetry.clocks import TimeColumn
from coherence.language.schema_kinds import Word
from coherence.simulate.telemetry import files
from coherence.simulate.telemetry.contract import Signal, telemetry

duckdb = pytest.importorskip("duckdb")


def wrote(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def parquet(path: Path, select: str) -> Path:
    duckdb.connect().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize(
    ("header", "cells", "seconds", "told"),
    [
        ("time", ["0", "0.5", "1"], [0, 0.5, 1], "seconds from a start"),
        (
            "ts",
            ["1714564800", "1714564801", "1714564802.5"],
            [1714564800, 1714564801, 1714564802.5],
            "seconds since 1970",
        ),
        ("Timestamp", ["1714564800123", "1714564801123"], [1714564800.123, 1714564801.123], "milliseconds since 1970"),
        ("date", ["1714564800123456", "1714564800123457"], [1714564800.123456, 1714564800.123457], "microseconds"),
        ("t", ["1714564800123456789", "1714564801123456789"], [1714564800.123456789, 1714564801.123456789], "nanosec"),
        ("time_ms", ["0", "500", "1000"], [0, 0.5, 1], "milliseconds, by its name"),
        (
            "timestamp",
            ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00.25+02:00"],
            [1714564800, 1714564800.25],
            "with zone",
        ),
        ("@timestamp", ["2024-05-01 12:00:00.123456789+00:00", "2024-05-01 12:01"], None, ""),
        ("datetime", ["2024-05-01 12:00:00", "2024-05-02"], [1714564800, 1714608000], "read as UTC"),
    ],
)
def test_the_time_is_known_by_its_looks(
    tmp_path: Path, header: str, cells: list[str], seconds: list[float] | None, told: str
) -> None:
    path = wrote(tmp_path, "a.csv", f"{header},load\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    if seconds is None:  # a zone in one row only
        with pytest.raises(Exception, match=r"a\.csv:3:1: '2024-05-01 12:01' .*\n.*zone in every row"):
            read(path)
        return
    found = read(path)
    assert found["load"].times.tolist() == seconds
    assert told in found.origins[0].clock


@given(st.integers(10**18, 4 * 10**18))
@settings(max_examples=100, deadline=None)
def test_nanoseconds_are_as_exact_as_a_float_can_be(moment: int) -> None:
    (found,) = TimeColumn("file", "time").read([str(moment)], [2]).tolist()
    assert abs(found - moment / 10**9) <= math.ulp(found)


def test_a_stated_unit_of_time_wins(tmp_path: Path) -> None:
    path = wrote(tmp_path, "a.csv", "time,x\n0,1\n2000000000,2\n")
    assert read(path, time_unit="ns")["x"].times.tolist() == [0.0, 2.0]


def test_a_wide_table_has_a_signal_for_each_column_and_text_is_left_out_by_name(tmp_path: Path) -> None:
    path = wrote(tmp_path, "a.csv", "load,ts,zone,up\n1,0,eu,true\n,1,us,false\nnan,2,eu,true\n")
    found = read(path)
    assert [signal.name for signal in found.signals] == ["load", "up"]
    assert found["load"].times.tolist() == [0, 2]  # the empty field is no sample, nan is one
    assert found["up"].values.tolist() == [1, 0, 1]
    assert found.origins[0].left_out == (("zone", "text, such as 'eu'", "give numbers"),)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    text = "time,a,b\n0,1,2\n1,3,4\n".replace(",", separator)
    assert read(wrote(tmp_path, "a.csv", text))["b"].values.tolist() == [2, 4]


NAMES = ["q.len", "a-b", 'say "x"', "two\nlines", "größe 🚀", "x{pod='1'}", "a;b", " padded ", "1", "NULL"]


def test_names_hold_any_characters(tmp_path: Path) -> None:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    rows = "".join(f"{t}," + ",".join(str(t * i) for i in range(len(NAMES))) + "\n" for t in range(4))
    wide = read(wrote(tmp_path, "wide.csv", f"time,{header}\n{rows}"))
    columns = ", ".join(f'(i * {k})::DOUBLE AS "{n.replace(chr(34), chr(34) * 2)}"' for k, n in enumerate(NAMES))
    select = f"SELECT i::DOUBLE AS time, {columns} FROM range(4) r(i)"  # noqa: S608
    packed = read(parquet(tmp_path / "p.parquet", select))
    assert {signal.name for signal in wide.signals} == set(NAMES) == {signal.name for signal in packed.signals}
    for name in NAMES:
        assert wide[name].values.tolist() == packed[name].values.tolist() == [t * NAMES.index(name) for t in range(4)]


def test_a_long_table_is_known_by_its_header_and_further_columns_are_labels(tmp_path: Path) -> None:
    text = "timestamp,metric,pod,value,unit\n0,cpu,a,1,%\n0,cpu,b,2,%\n1,cpu,a,3,%\n1,mem,,4,GB\n1,cpu,b,,%\n"
    found = read(wrote(tmp_path, "a.csv", text))
    assert [(s.name, s.unit) for s in found.signals] == [('cpu{pod="a"}', "%"), ('cpu{pod="b"}', "%"), ("mem", "GB")]
    assert found['cpu{pod="a"}'].values.tolist() == [1, 3]
    assert len(found['cpu{pod="b"}']) == 1
    assert found.origins[0].form == "long CSV"
    series = aligned(found, step=1, keep=("constant",))
    assert series.units["mem"] == "B"
    assert series["mem"].tolist()[1:] == [4e9]
    assert series['cpu{pod="a"}'].tolist() == [0.01, 0.03]


def test_parquet_long_and_wide_with_timestamps_and_nulls(tmp_path: Path) -> None:
    wide = parquet(
        tmp_path / "w.parquet",
        "SELECT TIMESTAMP '2024-05-01 12:00:00' + INTERVAL (i) SECOND AS ts, "
        "CASE WHEN i = 1 THEN NULL ELSE i END AS x, CASE WHEN i = 2 THEN 'NaN'::DOUBLE ELSE 1.5 END AS y, "
        "'text' AS z, [i] AS list FROM range(4) r(i)",
    )
    found = read(wide)
    assert found["x"].times.tolist() == [1714564800, 1714564802, 1714564803]
    assert np.isnan(found["y"].values).tolist() == [False, False, True, False]
    assert [what for what, _, _ in found.origins[0].left_out] == ["z", "list"]
    long = parquet(
        tmp_path / "l.parquet",
        "SELECT i // 2 AS time, 'm' || (i % 2) AS name, i::DOUBLE AS value, 'p' AS pod FROM range(6) r(i)",
    )
    assert read(long)['m1{pod="p"}'].values.tolist() == [1, 3, 5]


@pytest.mark.parametrize(("wide", "packed"), [(False, False), (True, False), (False, True), (True, True)])
def test_our_own_folders_keep_units_kinds_and_causes(tmp_path: Path, wide: bool, packed: bool) -> None:
    told = telemetry(
        {
            Signal("a.queue", "req", "gauge", "s"): ([0, 1, 2], [1, 2, 3]),
            Signal("n", "1", "counter", "s"): ([0, 2], [0, 7]),
        }
    )
    files.write(told, tmp_path, wide=wide, parquet=packed)
    found = read(tmp_path)
    assert found.signals == told.signals
    assert found["n"].values.tolist() == [0, 7]


def test_rotated_files_are_one_signal_and_files_side_by_side_are_two(tmp_path: Path) -> None:
    (tmp_path / "rotated").mkdir()
    wrote(tmp_path / "rotated", "day2.csv", "time,x\n2,2\n3,3\n")
    wrote(tmp_path / "rotated", "day1.csv", "time,x\n0,0\n1,1\n2,2\n")
    found = read(tmp_path / "rotated")
    assert found["x"].values.tolist() == [0, 1, 2, 3]
    (tmp_path / "pods").mkdir()
    for pod, factor in (("a", 1), ("b", 10)):
        wrote(tmp_path / "pods", f"{pod}.csv", "time,x,limit\n" + "".join(f"{t},{t * factor},5\n" for t in range(3)))
    wrote(tmp_path / "pods", "notes.md", "hello")
    found = read(tmp_path / "pods")
    assert [s.name for s in found.signals] == ["a.limit", "a.x", "b.limit", "b.x"]
    assert found["b.x"].values.tolist() == [0, 10, 20]
    assert any("called file.signal" in note for note in found.origins[0].notes)
    assert any("notes.md" in what for what, _, _ in found.origins[0].left_out)


def test_a_table_of_signals_beside_files_states_units_and_kinds(tmp_path: Path) -> None:
    wrote(tmp_path, "x.csv", "time,wait,done\n0,10,0\n1,20,5\n2,10,5\n")
    wrote(tmp_path, "signals.csv", "name,unit,kind,source\nwait,ms,gauge,\ndone,req,counter,\n")
    series = aligned(read(tmp_path))
    assert series["wait"].tolist() == [0.01, 0.02, 0.01]
    assert series.units == {"done": "req/s", "wait": "s"}
    assert series["done"].tolist()[1:] == [5, 0]


def test_counters_are_known_by_their_names_unless_they_fall_like_gauges(tmp_path: Path) -> None:
    rows = "".join(f"{t},{3 * t},{(7 * t) % 5}\n" for t in range(20))
    found = read(wrote(tmp_path, "x.csv", f"time,http_total,gap_total\n{rows}"))
    assert {s.name: s.kind for s in found.signals} == {"http_total": "counter", "gap_total": "gauge"}
    assert "read as counters by their names: http_total" in found.origins[0].notes[0]
    stated = read(tmp_path / "x.csv", kinds={"http_total": "gauge"}, units={"gap_total": "min"})
    assert {s.name: (s.kind, s.unit) for s in stated.signals}["http_total"] == ("gauge", "1")


def test_rows_out_of_order_are_sorted_and_equal_ones_kept_once_and_both_are_told(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, "x.csv", "time,x\n0,0\n2,2\n1,1\n1,1\n3,3\n"))
    assert found["x"].values.tolist() == [0, 1, 2, 3]
    assert [note.split(":")[0] for note in found.origins[0].notes] == [
        "time goes back 1 time from one row to the next", "1 time stood twice",
    ]  # fmt: skip


@pytest.mark.parametrize(("how", "level"), [("last", 9.0), ("mean", 5.0)])
def test_two_values_at_one_time_are_what_is_stated(tmp_path: Path, how: str, level: float) -> None:
    path = wrote(tmp_path, "x.csv", "time,x\n0,0\n1,1\n1,9\n2,2\n")
    assert read(path, duplicates=how)["x"].values.tolist() == [0, level, 2]


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    rows = "".join(f"{t}," + ",".join(str((t * i) % 97) for i in range(10_000)) + "\n" for t in range(4))
    series = aligned(read(wrote(tmp_path, "x.csv", f"time,{','.join(names)}\n{rows}")))
    assert len(series.names) + len(series.excluded) == 10_000
    assert {one.what for one in series.excluded} >= {"c0", "c97"}


def test_a_column_of_time_can_be_named(tmp_path: Path) -> None:
    path = wrote(tmp_path, "x.csv", "Zeit,x\n0,1\n1,2\n")
    assert read(path, time="Zeit")["x"].values.tolist() == [1, 2]


def test_the_design_names_columns_and_what_it_misses_is_named(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, "x.csv", "time,q_len,other\n0,1,4\n1,2,5\n2,5,4\n"))
    place = Place("d.yaml", 3, 1, 3, 9)
    told = named(found, {"api.queue": Word("q_len", place), "api.wait": Word("q_lem", place), "copy": "q_len"})
    assert [s.name for s in told.signals] == ["api.queue", "copy", "other"]
    series = aligned(told)
    assert series["api.queue"].tolist() == [1, 2, 5]
    (one,) = series.excluded
    assert (one.what, one.remedy) == ("api.wait", "did you mean 'q_len'?")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"units": {"y": "s"}}, "no signal 'y'"),
        ({"units": {"x": "furlong"}}, "unknown unit 'furlong'"),
        ({"kinds": {"x": "level"}}, "must be counter or gauge"),
        ({"duplicates": "first"}, "must be one of refuse, last, mean"),
        ({"time_unit": "h"}, "must be s, ms, us or ns"),
    ],
)
def test_what_is_stated_is_checked(tmp_path: Path, given: dict[str, object], words: str) -> None:
    path = wrote(tmp_path, "x.csv", "time,x\n0,1\n1,2\n")
    with pytest.raises(UsageError, match=words):
        read(path, **given)  # type: ignore[arg-type]
