"""Configurations of mig-parted: as many slices as an accelerator has."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from tests.paths import DATA

WRONG = DATA / "manifests/mig/nvidia-mig-config.yml"
REAL = DATA / "manifests/mig/config.yaml"


def text(devices: str) -> str:
    head = "version: v1\nmig-configs:\n  mixed:\n  - devices: all\n    mig-enabled: true\n"
    return f"{head}    mig-devices: {{{devices}}}\n"


@pytest.mark.parametrize(
    ("devices", "verdicts"),
    [
        ("1g.10gb: 7", [Verdict.PROVED]),
        ("1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1", [Verdict.PROVED]),
        ("3g.40gb: 2, 2g.20gb: 1", [Verdict.CONFLICT]),
        ("1g.5gb+me: 1, 7g.40gb: 1", [Verdict.CONFLICT]),
        ("1g.6gb: 4", [Verdict.PROVED]),
        ("1g.6gb: 3, 2g.12gb: 1", [Verdict.CONFLICT]),  # an A30 has four
        ("", []),
    ],
)
def test_slices_are_no_more_than_there_are(devices: str, verdicts: list[Verdict], tmp_path: Path) -> None:
    (tmp_path / "mig.yaml").write_text(text(devices))
    assert [finding.verdict for finding in check(tmp_path).findings if finding.code == "COH209"] == verdicts


def test_an_untouched_file_has_as_many_slices_in_each_of_its_configurations() -> None:
    found = [finding.verdict for finding in check(REAL).findings]
    assert found
    assert set(found) == {Verdict.PROVED}


def test_an_untouched_file_wants_two_whole_accelerators_of_one() -> None:
    """NVIDIA/deepops, all-7g.80gb: 14 of 7 slices."""
    (conflict,) = [finding for finding in check(WRONG).findings if finding.verdict is Verdict.CONFLICT]
    assert (conflict.code, conflict.places[0].line) == ("COH209", 58)


@pytest.mark.parametrize("devices", ["large: 1", "1g.10gb: many", "1g.10gb: [1]"])
def test_what_is_no_slice_is_refused_with_its_line(devices: str) -> None:
    with pytest.raises(InputError, match=r"mig\.yaml:6"):
        importers.design_from_sources({"mig.yaml": text(devices)})
