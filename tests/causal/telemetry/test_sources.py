"""Files and folders of telemetry: what is read as what, what is left out, units and kinds that were stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.telemetry.sources import read

WIDE = "time,cpu,hits_total\n0,1,5\n1,2,6\n2,4,9\n"


def folder_of(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_csv", ".csv").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_every_table_below_a_folder_is_read_and_others_are_named(tmp_path: Path) -> None:
    root = folder_of(tmp_path, a_csv=WIDE, sub__b_csv="time,ram\n0,7\n2,8\n", notes_txt="hello")
    record = read(root)
    assert [signal.name for signal in record.signals] == ["cpu", "hits_total", "ram"]
    left = [what for origin in record.origins for what in origin.left_out]
    assert [(Path(what).name, why) for what, why, _ in left] == [("notes.txt", "'.txt' is no ending of telemetry")]


def test_hidden_files_are_not_read(tmp_path: Path) -> None:
    root = folder_of(tmp_path, a_csv=WIDE)
    (root / ".b.csv").write_text("broken")
    assert len(read(root).origins) == 1


def test_a_folder_without_telemetry_says_what_is_in_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is empty"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"its files are notes\.txt"):
        read(folder_of(tmp_path, notes_txt="hello"))


def test_counters_are_known_by_their_names_unless_a_kind_is_stated(tmp_path: Path) -> None:
    path = folder_of(tmp_path, a_csv=WIDE) / "a.csv"
    kinds = {signal.name: signal.kind for signal in read(path).signals}
    assert kinds == {"cpu": "gauge", "hits_total": "counter"}
    assert "1 signal read as counters by their names: hits_total" in read(path).origins[0].notes
    stated = {
        signal.name: signal.kind for signal in read(path, kinds={"hits_total": "gauge", "cpu": "counter"}).signals
    }
    assert stated == {"cpu": "counter", "hits_total": "gauge"}
    units = {signal.name: signal.unit for signal in read(path, units={"cpu": "ms"}).signals}
    assert units == {"cpu": "ms", "hits_total": "1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": {"cpuu": "s"}}, "telemetry has no signal 'cpuu'"),
        ({"kinds": {"cpuu": "gauge"}}, "telemetry has no signal 'cpuu'"),
        ({"kinds": {"cpu": "level"}}, r"kind\(=level\) of cpu must be counter or gauge"),
        ({"units": {"cpu": "flurbs"}}, "the unit of cpu"),
        ({"duplicates": "first"}, r"duplicates\(=first\) must be one of refuse, last, mean"),
        ({"time_unit": "h"}, r"time_unit\(=h\) must be s, ms, us or ns"),
    ],
)
def test_what_is_stated_wrongly_is_refused(tmp_path: Path, options: dict[str, object], message: str) -> None:
    path = folder_of(tmp_path, a_csv=WIDE) / "a.csv"
    with pytest.raises(UsageError, match=message):
        read(path, **options)  # type: ignore[arg-type]


def test_a_path_that_is_not_there_is_a_near_miss(tmp_path: Path) -> None:
    folder_of(tmp_path, load_csv=WIDE)
    with pytest.raises(UsageError, match=r"did you mean '.*load\.csv'"):
        read(tmp_path / "lod.csv")
    with pytest.raises(UsageError, match="no telemetry: give a file or a folder"):
        read([])
