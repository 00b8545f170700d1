"""A design against what is expected of it: what is missing, what is too much, numbers that are off."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.checking.expectations import compare, expected_files, summary

DESIGN = """coherence: 1
calls:
  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}
"""
CONFLICT = "{code: COH201, verdict: conflict, of: [app -> api]}"


def told(folder: Path, expected: str, design: str = DESIGN) -> list[str]:
    (folder / "design.yaml").write_text(design)
    (folder / "expected.yaml").write_text(expected)
    (result,) = compare(expected_files([folder]), base=folder.parent)
    assert result.path == Path(folder.name)
    return list(result.differences)


def test_what_is_expected_and_there_differs_in_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, f"findings:\n  - {CONFLICT}\n") == []
    assert told(tmp_path, "findings:\n  - {code: COH201, verdict: conflict}\n") == []


def test_what_is_absent_and_what_is_not_expected_is_told(tmp_path: Path) -> None:
    absent, surplus = told(tmp_path, "findings:\n  - {code: COH999, verdict: proved, of: [b, a]}\n")
    assert absent == "expected and absent: COH999 proved of a, b"
    assert surplus.startswith("found and not expected: COH201 conflict of app -> api: ")
    assert len(told(tmp_path, "findings:\n  - {code: COH201, verdict: proved}\n")) == 2
    assert len(told(tmp_path, "findings:\n  - {code: COH201, verdict: conflict, of: [app -> api, other]}\n")) == 2
    assert told(tmp_path, "- 1\n") == ["expected.yaml is not a mapping"]


def test_a_proof_need_not_be_expected(tmp_path: Path) -> None:
    proved = DESIGN.replace("tries: 4", "tries: 2").replace("10 s", "11 s")
    assert told(tmp_path, "findings: []\n", proved) == []


@pytest.mark.parametrize(
    ("number", "differs"),
    [
        ("{value: 20, unit: s}", False),
        ("{value: 20000, unit: ms}", False),
        ("{value: 21, unit: s}", True),
        ("{value: 21, unit: s, rtol: 0.05}", False),  # 1 of 21 is below 5 %
        ("{value: 21.1, unit: s, rtol: 0.05}", True),
        ("{value: 19, unit: s, rtol: 0.05}", True),
    ],
)
def test_numbers_are_compared_with_their_tolerance(tmp_path: Path, number: str, differs: bool) -> None:
    names = _numbers(tmp_path)
    (name,) = [name for name, value in names.items() if value == 20]
    lines = told(tmp_path, f"findings:\n  - {CONFLICT}\nnumbers:\n  {name}: {number}\n")
    assert bool(lines) is differs
    assert not lines or lines[0].startswith(f"{name}: ")
    assert not lines or lines[0].endswith("20 found")


def _numbers(folder: Path) -> dict[str, float]:
    (folder / "design.yaml").write_text(DESIGN)
    (folder / "expected.yaml").write_text("{}")
    (result,) = compare(expected_files([folder / "design.yaml"]))
    return {name: float(value) for f in result.report.findings for name, (value, _) in f.evidence.numbers.items()}


def test_a_number_that_no_finding_has_is_told(tmp_path: Path) -> None:
    lines = told(tmp_path, f"findings:\n  - {CONFLICT}\nnumbers:\n  height: {{value: 2, unit: s}}\n")
    assert lines == ["height: 2 s expected, nothing found"]


def test_a_summary_counts_the_designs_that_differ(tmp_path: Path) -> None:
    for name, expected in (("good", f"findings:\n  - {CONFLICT}\n"), ("bad", "findings: []\n")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "design.yaml").write_text(DESIGN)
        (folder / "expected.yaml").write_text(expected)
    lines = summary(list(compare(expected_files([tmp_path]), base=tmp_path))).splitlines()
    assert lines[0] == "FAIL bad"
    assert lines[1].startswith("       found and not expected: COH201")
    assert lines[2:] == ["ok   good", "2 designs, 1 differ from their expected.yaml"]


def test_no_expectation_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no expected\.yaml under these paths"):
        expected_files([tmp_path])
