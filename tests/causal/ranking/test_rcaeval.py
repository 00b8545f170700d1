"""Cases in the layout of RCAEval: before and after the fault, the label from the folder, errors with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.causal.ranking.rcaeval import is_case, rca_case
from tests.causal.ranking.made_incidents import NORMAL, MadeIncident, made_incident

START = 1_700_000_000


def write(root: Path, incident: MadeIncident, fault: str) -> Path:
    """Writes an incident as a case: `SERVICE_FAULT/1/data.csv`."""
    folder = root / f"{incident.truth}_{fault}" / "1"
    folder.mkdir(parents=True)
    rows = [*incident.normal.values.tolist(), *incident.incident.values.tolist()]
    lines = [",".join(map(str, (START + at, *row))) for at, row in enumerate(rows)]
    (folder / "data.csv").write_text("\n".join([",".join(("time", *incident.normal.names)), *lines]) + "\n")
    (folder / "inject_time.txt").write_text(f"{START + NORMAL}\n")
    return folder


def test_a_case_is_read_and_its_label_is_that_of_the_folder(tmp_path: Path) -> None:
    incident = made_incident(3, "cpu")
    folder = write(tmp_path, incident, "cpu")
    assert is_case(folder)
    assert not is_case(tmp_path)
    case = rca_case(folder)
    assert (case.label, case.name) == (incident.truth, f"{incident.truth}_cpu/1")
    assert (len(case.normal), len(case.incident)) == (len(incident.normal), len(incident.incident))


@pytest.mark.parametrize(("text", "message"), [("soon", "'soon' is no time"), ("5", "not within the telemetry")])
def test_a_time_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    folder = write(tmp_path, made_incident(3, "cpu"), "cpu")
    (folder / "inject_time.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        rca_case(folder)
