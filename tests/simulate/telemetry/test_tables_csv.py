"""Tables as CSV: the bytes that are written, and the rows that are read back with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.simulate.telemetry.tables_csv import load, save


def test_a_table_is_written_in_its_shortest_exact_form(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    save(path, ("time", 'a "b"'), [(0, None), (0.1, "x,y"), (1e300, "lone\rreturn")], ())
    assert path.read_bytes() == b'time,"a ""b"""\n0.0,\n0.1,"x,y"\n1e+300,"lone\rreturn"\n'
    header, rows = load(path)
    assert header == ("time", 'a "b"')
    assert list(rows) == [(2, ["0.0", ""]), (3, ["0.1", "x,y"]), (4, ["1e+300", "lone\rreturn"])]


def test_an_empty_line_is_an_absent_cell_of_one_column_and_nothing_in_a_wider_table(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n\n2\n")
    assert list(load(tmp_path / "one.csv")[1]) == [(2, ["1"]), (3, [""]), (4, ["2"])]
    (tmp_path / "two.csv").write_text("a,b\n1,2\n\n3,4\n")
    assert list(load(tmp_path / "two.csv")[1]) == [(2, ["1", "2"]), (4, ["3", "4"])]


@pytest.mark.parametrize("row", ["1", "1,2,3"])
def test_a_row_of_another_width_is_refused_with_its_line(tmp_path: Path, row: str) -> None:
    (tmp_path / "t.csv").write_text(f"a,b\n1,2\n{row}\n")
    with pytest.raises(InputError, match=rf"t\.csv:3:1: {row.count(',') + 1} fields in a table of 2 columns"):
        list(load(tmp_path / "t.csv")[1])
