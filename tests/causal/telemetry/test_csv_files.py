"""CSV of a user's own, wide and long: signals, labels, units, gaps and lines; by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.causal.telemetry import csv_files
from coherence.causal.telemetry.csv_files import long_signals, read_csv, table
from coherence.causal.telemetry.parts import TelemetryOptions, TelemetryPart


def read(folder: Path, *lines: str, options: TelemetryOptions = TelemetryOptions()) -> TelemetryPart:  # noqa: B008
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_csv(path, options)


def shown(part: TelemetryPart) -> dict[str, list[tuple[float, float]]]:
    return {
        signal.name: list(zip(samples.times.tolist(), samples.values.tolist(), strict=True))
        for signal, samples in part.columns
    }


def problems(folder: Path, *lines: str) -> list[tuple[int, str]]:
    with pytest.raises(InputError) as error:
        read(folder, *lines)
    return [(one.place.line, one.message) for one in error.value.problems]


def test_a_wide_table_has_a_signal_in_each_column(tmp_path: Path) -> None:
    part = read(tmp_path, "time,cpu,name,on", "0,1,x,true", "1,,y,false", "", "2,3,z,true")
    assert shown(part) == {"cpu": [(0, 1), (2, 3)], "on": [(0, 1), (1, 0), (2, 1)]}
    assert part.origin.form == "wide CSV"
    assert part.origin.rows == 3
    assert part.origin.left_out == (("name", "text, such as 'x'", "give numbers"),)
    assert part.origin.notes == ("'on': true and false were read as 1 and 0",)
    assert part.grid.tolist() == [0, 1, 2]


def test_a_long_table_has_a_signal_for_each_name_and_labels(tmp_path: Path) -> None:
    part = read(
        tmp_path, "time,metric,value,pod,unit,kind",
        "0,cpu,1,a,s,gauge", "0,cpu,2,b,s,gauge", "1,cpu,3,a,s,gauge", "0,hits,9,,req,counter", "1,cpu,,b,s,gauge",
    )  # fmt: skip
    # a row without a value is no sample
    assert shown(part) == {'cpu{pod="a"}': [(0, 1), (1, 3)], 'cpu{pod="b"}': [(0, 2)], "hits": [(0, 9)]}
    assert {signal.name: (signal.unit, signal.kind) for signal, _ in part.columns} == {
        'cpu{pod="a"}': ("s", "gauge"), 'cpu{pod="b"}': ("s", "gauge"), "hits": ("req", "counter"),
    }  # fmt: skip
    assert part.kinds
    assert part.origin.form == "long CSV"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("time,cpu", "0,1", "1,x"), (3, "'x' in the column 'cpu' is not a number")),
        (("time,cpu", "0,1", "1,2,3"), (3, "3 fields in a table of 2 columns")),
        (("time,cpu", "0"), (2, "1 field in a table of 2 columns")),
        (("time,cpu",), (1, "the file has a header and no row")),
        (("time,cpu", "0,x"), (1, "no column is a signal (cpu: text, such as 'x')")),
        (("time,metric,value", "0,cpu,1", "1,,2"), (3, "the name of the signal is missing")),
        (("time,metric,value,unit", "0,cpu,1,s", "1,cpu,2,m"), (3, "'cpu' is m here and s above")),
        (("time,metric,value,kind", "0,cpu,1,level"), (2, "'level' is no kind of signal")),
        (("time,metric,value,unit", "0,cpu,1,flurbs"), (2, "'flurbs'")),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, lines: tuple[str, ...], told: tuple[int, str]
) -> None:
    ((line, message),) = problems(tmp_path, *lines)
    assert line == told[0]
    assert told[1] in message


def test_no_more_than_twenty_rows_are_told(tmp_path: Path) -> None:
    assert len(problems(tmp_path, "time,cpu", *["1,2,3"] * 30)) == 20


def test_batches_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{n},{n * n}" for n in range(7)]
    whole = shown(read(tmp_path, "time,a", *rows))
    monkeypatch.setattr(csv_files, "BATCH", 3)
    assert shown(read(tmp_path, "time,a", *rows)) == whole == {"a": [(n, n * n) for n in range(7)]}
    assert problems(tmp_path, "time,a", *rows, "7,x") == [(9, "'x' in the column 'a' is not a number")]


def test_other_separators_are_seen_and_empty_lines_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time;cpu\n\n0;1\n\n")
    header, rows = table(path)
    assert header == ["time", "cpu"]
    assert list(rows) == [(3, ["0", "1"])]


def test_facts_of_a_signal_have_their_defaults() -> None:
    (signal,) = long_signals("f", ["a"], {}, [2]).values()
    assert (signal.name, signal.unit, signal.kind, signal.source) == ("a", "1", "gauge", "f")
    (stated,) = long_signals("f", ["a", "a"], {"unit": ["s", "s"], "source": ["g", "g"]}, [2, 3]).values()
    assert (stated.unit, stated.source) == ("s", "g")
