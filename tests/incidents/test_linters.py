"""The page beside the linters is the one that our results and their documented checks give."""

from __future__ import annotations

from tests.incidents.linters import LINTERS, PAGE, conflicts, page
from tests.paths import DATA, read_yaml

ROWS = read_yaml(DATA / "linters.yaml")["rows"]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_row_has_a_conflict_of_each_of_its_incidents_and_names_known_linters_alone() -> None:
    for row in ROWS:
        assert all(conflicts()[name] for name in row["incidents"])
        assert set(row) <= {"what", "incidents", *LINTERS}


def test_every_conflict_of_the_incidents_stands_in_a_row() -> None:
    shown = {name for row in ROWS for name in row["incidents"]}
    assert {name for name, codes in conflicts().items() if codes} == shown
