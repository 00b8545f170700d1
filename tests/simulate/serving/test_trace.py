"""Arrivals from files: what is read, and what is refused with line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError, UsageError
from coherence.simulate.serving.trace import arrivals_from_csv, replayed_from_file

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:50.9951690,12,1
"""


def written(folder: Path, text: str, *, name: str = "arrivals.csv") -> Path:
    """A file with this text, its line ends as given."""
    path = folder / name
    path.write_bytes(text.encode())
    return path


def problems(path: Path, **columns: str) -> list[tuple[int, str, str]]:
    """(line, message, remedy) of everything that is wrong."""
    with pytest.raises(InputError) as raised:
        arrivals_from_csv(path, **columns)
    assert all(problem.place.file == str(path) for problem in raised.value.problems)
    return [(problem.place.line, problem.message, problem.remedy) for problem in raised.value.problems]


def test_azure(tmp_path: Path) -> None:
    trace = replayed_from_file(written(tmp_path, AZURE))
    assert trace.times == pytest.approx((0, 4.3145790, 4.3145790), abs=1e-12)
    assert (trace.prompt, trace.output) == ((374, 396, 12), (44, 109, 1))
    assert trace.load.arrival.tolist() == list(trace.times)


@pytest.mark.parametrize("text", ["\ufeff" + AZURE, AZURE.replace("\n", "\r\n"), AZURE + "\n\n"])
def test_marks_line_ends_and_blank_lines_do_not_matter(tmp_path: Path, text: str) -> None:
    assert replayed_from_file(written(tmp_path, text)) == replayed_from_file(written(tmp_path, AZURE, name="a"))


def test_the_column_named_like_a_time_is_found_and_a_trace_becomes_an_arrival_process(tmp_path: Path) -> None:
    trace = arrivals_from_csv(written(tmp_path, "id,Timestamp\na,10\nb,10.5\nc,12\n"))
    assert list(trace.times) == [0, 0.5, 2]
    assert trace.arrivals.kind == "trace"
    assert trace.arrivals.times == trace.times
    assert trace.arrivals.rate == 1.5


@pytest.mark.parametrize(
    ("unit", "cells", "second"),
    [
        ("s", ("1700000000.25", "1700000000.5"), 0.25),
        ("ms", ("5", "7"), 0.002),
        ("ns", ("1700000000000000001", "1700000000000000002"), 1e-9),
    ],
)
def test_numbers_count_in_their_unit_and_keep_every_digit(
    tmp_path: Path, unit: str, cells: tuple[str, str], second: float
) -> None:
    trace = arrivals_from_csv(written(tmp_path, "t\n" + "\n".join(cells)), unit=unit)
    assert trace.times[1] == pytest.approx(second, rel=1e-12)


def test_zones_are_taken_off(tmp_path: Path) -> None:
    text = "time\n2024-03-01T10:00:00Z\n2024-03-01T11:00:01.5+01:00\n"
    assert arrivals_from_csv(written(tmp_path, text)).times == (0, 1.5)


def test_lines_out_of_order_are_named_with_the_remedy(tmp_path: Path) -> None:
    assert problems(written(tmp_path, "time\n1\n3\n2\n4\n3.5\n")) == [
        (4, "time 2 is before 3 of the arrival above", "sort the file by its column 'time'"),
        (6, "time 3.5 is before 4 of the arrival above", "sort the file by its column 'time'"),
    ]


def test_missing_and_unreadable_times_are_named_together(tmp_path: Path) -> None:
    path = written(tmp_path, "id,time\na,1\nb\nc,\nd,soon\ne,nan\nf,1e400000\ng,2024-02-31 10:00:00\n")
    found = problems(path)
    assert [line for line, _, _ in found] == [3, 4, 5, 6, 7, 8]
    assert found[0][1:] == ("no time in column 'time'", "fill it in or delete the line")
    assert found[2][1] == "'soon' in column 'time' is not a time"


@pytest.mark.parametrize("second", ["2024-03-01 10:00:00", "2024-03-01 10:00:00Z"])
def test_kinds_of_time_are_not_mixed(tmp_path: Path, second: str) -> None:
    first = "3" if second.endswith("00") else "2024-03-01 09:00:00"
    assert "mixes kinds of time" in problems(written(tmp_path, f"time\n{first}\n{second}\n"))[0][1]


def test_a_column_that_is_not_there_gets_a_guess(tmp_path: Path) -> None:
    path = written(tmp_path, AZURE)
    assert problems(path, prompt="ContextToken") == [
        (1, "no column 'ContextToken'", "did you mean 'ContextTokens'?"),
    ]
    assert problems(written(tmp_path, "a,b\n1,2\n"))[0] == (1, "no column 'time'", "known: a, b")


@pytest.mark.parametrize("cell", ["", "0", "-3", "1.5", "x", "²", "9" * 30])
def test_token_counts_are_whole_and_positive(tmp_path: Path, cell: str) -> None:
    found = problems(written(tmp_path, f"time,tokens\n1,{cell}\n"), prompt="tokens")
    assert found == [
        (2, f"'{cell}' in column 'tokens' is not a number of tokens", "give a whole number >= 1, or delete the line")
    ]


@pytest.mark.parametrize("text", ["", "time\n", "time\n\n\n"])
def test_a_file_without_arrivals_is_an_error(tmp_path: Path, text: str) -> None:
    assert problems(written(tmp_path, text))[0][0] == 1


def test_a_file_that_is_not_there_or_not_text_is_an_error(tmp_path: Path) -> None:
    assert "No such file" in problems(tmp_path / "nowhere.csv")[0][1]
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "the text is UTF-16, not UTF-8" in problems(tmp_path / "binary")[0][1]


def test_many_problems_are_counted_not_listed(tmp_path: Path) -> None:
    found = problems(written(tmp_path, "time\n" + "soon\n" * 50))
    assert len(found) == 21
    assert found[-1][1] == "30 more lines of this file have problems"


def test_an_unknown_unit_and_a_load_without_tokens_are_errors_of_the_caller(tmp_path: Path) -> None:
    path = written(tmp_path, "time\n1\n2\n")
    with pytest.raises(UsageError, match="'min'"):
        arrivals_from_csv(path, unit="min")
    with pytest.raises(UsageError, match="no token counts"):
        _ = arrivals_from_csv(path).load


@settings(max_examples=50, deadline=None)
@given(st.lists(st.decimals(0, 10**6, places=6), min_size=1, max_size=30).map(sorted))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, times: list[object]) -> None:
    path = written(tmp_path_factory.mktemp("trace"), "time\n" + "\n".join(map(str, times)))
    assert arrivals_from_csv(path).times == tuple(float(t - times[0]) for t in times)  # type: ignore[operator]
