"""Bad files: each a message with file, line, value and remedy; nothing is dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.telemetry import aligned, chunks, read

duckdb = pytest.importorskip("duckdb")

BAD = {
    "empty": ("", 1, "the file is empty", "column names"),
    "blank": ("\n \n", 1, "the file is empty", "column names"),
    "header only": ("time,x\n", 1, "a header and no row", "at least one row"),
    "no time": ("a,b\n1,2\n", 1, "no column tells the time", "call it one of time"),
    "time alone": ("time\n1\n", 1, "no column is a signal", "at least one column"),
    "text alone": ("time,x\n1,a\n2,b\n", 1, "no column is a signal", "at least one column"),
    "two of one name": ("time,x,x\n0,1,2\n", 1, "columns 2 and 3 are both called 'x'", "rename"),
    "no name": ("time,x,\n0,1,2\n", 1, "column 3 has no name", "give it one"),
    "a word among numbers": (
        "time,x\n0,1\n1,oops\n2,3\n",
        3,
        "'oops' in the column 'x' is not a number",
        "decimal point",
    ),
    "a decimal comma": ("time;x\n0;1,5\n1;2\n", 2, "'1,5' in the column 'x' is not a number", "decimal point"),
    "a time that is none": ("time,x\n0,1\nsoon,2\n", 3, "'soon' in the column 'time' is not a time", "ISO 8601"),
    "a time that is missing": ("time,x\n0,1\n,2\n", 3, "'' in the column 'time' is not a time", "ISO 8601"),
    "a time that is infinite": ("time,x\n0,1\ninf,2\n", 3, "'inf' in the column 'time'", "finite"),
    "mixed units of time": ("time,x\n1714564800,1\n1714564801000,2\n", 3, "is not a time", "one unit"),
    "seconds, then dates": ("time,x\n0,1\n1714564801,2\n", 3, "is not a time", "seconds from a start"),
    "a size between": ("time,x\n20000000000,1\n", 2, "is not a time", "time_unit"),
    "a header that lies": ("time_ms,x\n1714564800,1\n", 2, "is not a time", "the header says milliseconds"),
    "a 13th month": ("time,x\n2024-13-01T00:00:00Z,1\n", 2, "is not a time", "month"),
    "two values at a time": ("time,x\n0,1\n1,2\n1,3\n", 4, "'x' has two values at 1 s, 2 and 3", "--duplicates last"),
    "a short row": ("time,x,y\n0,1,2\n1,2\n", 3, "2 fields in a table of 3 columns", "a field for each column"),
    "an open quote": ('time,x\n0,1\n1,"2\n', 3, "cannot be read", "one row on each line"),
    "a unit": ("time,signal,value,unit\n0,x,1,s\n1,y,2,furlong\n", 3, "unknown unit 'furlong'", "units are written"),
    "two units": ("time,signal,value,unit\n0,x,1,s\n1,x,2,ms\n", 3, "'x' is ms here and s above", "one unit"),
    "no signal": ("time,signal,value\n0,,1\n", 2, "the name of the signal is missing", "every row"),
    "no kind": ("time,signal,value,kind\n0,x,1,level\n", 2, "'level' is no kind", "counter or gauge"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_csv(tmp_path: Path, case: str) -> None:
    text, line, message, remedy = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(InputError) as caught:
        read(path)
    (problem, *_) = caught.value.problems
    assert (problem.place.file, problem.place.line) == (str(path), line)
    assert message in problem.message
    assert remedy in problem.remedy


STREAMED = ("empty", "header only", "no time", "two of one name", "a word among numbers", "a short row",
            "mixed units of time", "two values at a time", "time alone", "a time that is none")  # fmt: skip


@pytest.mark.parametrize("case", STREAMED)
def test_the_same_of_a_stream(tmp_path: Path, case: str) -> None:
    text, line, message, _ = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(InputError) as caught:
        list(chunks(path))
    (problem, *_) = caught.value.problems
    assert message in problem.message
    assert (problem.place.line, problem.remedy != "") == (line, True)


@pytest.mark.parametrize(
    ("name", "raw", "line", "words"),
    [
        ("x.csv", b"time,x\n0,1\n1,\xe9\n", 3, "byte 0xe9 at column 3 is not UTF-8"),
        ("x.csv", "time,x\n0,1\n".encode("utf-16"), 1, "UTF-16"),
        ("x.csv", bytes(range(256)) * 8, 1, "binary file"),
        ("x.parquet", b"PAR1" + bytes(200), 1, "cannot be read as Parquet"),
        ("x.parquet", b"", 1, "the file is empty"),
        ("x.parquet", b"time,x\n0,1\n", 1, "cannot be read as Parquet"),
        ("x.pb", b"\x0a\xff\x01abc", 1, "cut off, or not OTLP"),
        ("x.pb", b"\x00\x00\x00\x09abc", 1, "a request of 9 bytes has 3"),
        ("x.pb", bytes(range(1, 256)), 1, "not OTLP"),
        ("x.pb", b"", 1, "the file is empty"),
        ("x.json", b'{"resourceMetrics": [\n', 1, "cut off, or not JSON"),
        ("x.json", b'{"resourceMetrics": []}\n{"resou', 2, "cut off, or not JSON"),
        ("x.json", b'{"resourceMetrics": 3}\n', 1, "not an ExportMetricsServiceRequest"),
        ("x.json", b'{"resourceSpans": [{}]}\n', 1, "no metric in it (only resourceSpans (not metrics))"),
        ("x.json", b"{}", 1, "no metric in it"),
    ],
)
def test_bytes_that_are_no_table(tmp_path: Path, name: str, raw: bytes, line: int, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert problem.place.line == line
    assert words in problem.message
    assert problem.remedy


def test_latin_1_is_read_where_it_is_stated(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("time,débit\n0,1\n1,2\n".encode("latin-1"))
    assert read(tmp_path / "x.csv", encoding="latin-1")["débit"].values.tolist() == [1, 2]


def test_a_parquet_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    select = "SELECT i::DOUBLE AS time, i AS x FROM range(1000) r(i)"
    duckdb.connect().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    path.write_bytes(path.read_bytes()[:-100])
    for reading in (read, lambda p: list(chunks(p))):
        with pytest.raises(InputError, match=r"x\.parquet:1:1: cannot be read as Parquet"):
            reading(path)


def test_a_folder_without_telemetry(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no telemetry in the folder \(it is empty\)"):
        read(tmp_path)
    (tmp_path / "README.md").write_text("hello", encoding="utf-8")
    with pytest.raises(InputError, match=r"its files are README\.md"):
        read(tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("time,x\n0,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"did you mean '.*metrics\.csv'"):
        read(tmp_path / "metric.csv")


def test_all_problems_of_all_files_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,one\n1,2\n2,three,3\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("time,x,y\n0,a,1\n1,2,b\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert [(Path(p.place.file).name, p.place.line) for p in caught.value.problems] == [
        ("a.csv", 4),
        ("b.csv", 2),
        ("b.csv", 3),
    ]


def test_two_clocks_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,1\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("time,y\n1714564800,1\n1714564801,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv.*seconds from a start, those of .*b\.csv since 1970"):
        read(tmp_path)


def test_one_row_has_no_step(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n5,1\n", encoding="utf-8")
    found = read(tmp_path / "a.csv")
    with pytest.raises(InputError, match="1 time in all, and a step needs two"):
        aligned(found)
    assert aligned(found, step=1)["x"].tolist() == [1]
    with pytest.raises(InputError, match="1 time in all"):
        list(chunks(tmp_path / "a.csv"))


def test_a_stray_time_does_not_make_an_endless_clock(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,1\n0.001,2\n0.002,2\n599999999,3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="take out a stray time"):
        aligned(read(tmp_path / "a.csv"))
