"""The one reader of CSV: lines, separators, and what cannot be read."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.base.csv_records import csv_records, csv_table, most_frequent
from coherence.base.errors import InputError


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_each_record_has_the_line_on_which_it_begins(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffa,b\n1,"two\nlines"\n\n3,""\n')
    assert list(csv_records(path)) == [(1, ["a", "b"]), (2, ["1", "two\nlines"]), (4, []), (5, ["3", ""])]


def test_the_header_is_the_first_record_with_a_field(tmp_path: Path) -> None:
    header, records = csv_table(written(tmp_path, "\n , \na,b\n1,2\n"))
    assert header == ["a", "b"]
    assert list(records) == [(4, ["1", "2"])]


@pytest.mark.parametrize("text", ["", "\n", " , \n\n"])
def test_a_table_without_a_header_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"table\.csv:1:1: the file is empty\n  help: begin with a line of column"):
        csv_table(written(tmp_path, text))


@pytest.mark.parametrize(("line", "separator"), [("a;b,c;d", ";"), ("a\tb", "\t"), ("a|b|c,d", "|"), ("alone", ",")])
def test_the_most_frequent_separator_of_the_first_line_separates(line: str, separator: str) -> None:
    assert most_frequent(f"{line}\n,,,;;;") == separator


def test_a_separator_that_is_not_offered_does_not_separate(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b;c,d\n")
    assert csv_table(path)[0] == ["a;b;c", "d"]
    assert csv_table(path, separators=",;")[0] == ["a", "b", "c,d"]


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (b'a,b\n1,2\n3,"4\n', 3, "cannot be read"),
        (b'a,b\n"1"2,3\n', 2, "cannot be read"),
        (b"a,b\n1,\xe9\n", 2, "byte 0xe9 at column 3 is not UTF-8"),
        ("a,b\n".encode("utf-16"), 1, "the text is UTF-16, not UTF-8"),
        (b"a,b\n\0\n", 1, "this is a binary file, not CSV"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, content: bytes, place: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        list(csv_records(written(tmp_path, content)))
    (problem,) = caught.value.problems
    assert (problem.place.line, problem.message[: len(message)]) == (place, message)
    assert problem.remedy


def test_a_file_that_is_not_there_and_an_unknown_encoding_are_errors_of_the_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(csv_records(tmp_path / "nowhere.csv"))
    with pytest.raises(InputError, match="unknown encoding: klingon"):
        list(csv_records(written(tmp_path, "a\n"), encoding="klingon"))


def test_a_nul_is_a_character_where_it_may_stand(tmp_path: Path) -> None:
    header, records = csv_table(written(tmp_path, "a,\0\n\0,1\n"), nul=True)
    assert (header, list(records)) == (["a", "\0"], [(2, ["\0", "1"])])


def test_a_lenient_reader_takes_bytes_and_quotes_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, b'a,b\n"1"2,\xe9\0\n')
    assert list(csv_records(path, lenient=True)) == [(1, ["a", "b"]), (2, ["12", "\ufffd\0"])]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=6))
def test_what_was_written_is_read_back_with_its_lines(tmp_path: Path, rows: list[list[str]]) -> None:
    text, lines = io.StringIO(), []
    for row in rows:
        lines.append(text.getvalue().count("\n") + 1)
        csv.writer(text, lineterminator="\n").writerow(row)
    assert list(csv_records(written(tmp_path, text.getvalue()))) == list(zip(lines, rows, strict=True))
