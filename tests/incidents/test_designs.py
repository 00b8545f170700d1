"""The hand-written designs of real incidents: all load, and those whose check exists give their finding."""

from __future__ import annotations

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Severity, Verdict
from tests.paths import DATA

DESIGNS = DATA / "designs"

# design -> the conflict it must give (code), or None where nothing may be in conflict
EXPECTED = {
    "AD-03": "COH221",
    "AD-13": None,
    "AG-01": "COH209",
    "AW-01": "COH205",
    "AW-07": "COH205",
    "DD-07": "COH212",
    "DD-08": "COH213",
    "IE-01": None,
    "LB-03": "COH214",
    "LB-07": "COH208",
    "OK-07": None,
    "PB-05": "COH225",
    "PS-01": "COH206",
    "PW-01": "COH219",
    "RA-01": "COH202",
    "RA-05": "COH216",
    "RL-01": "COH210",
    "SE-01": "COH226",
    "SE-05": "COH227",
    "TR-03": "COH201",
    "TR-19": "COH208",
    "TR-21": "COH207",
    "TS-05": "COH208",
    "TW-03": "COH222",
    "W1-throttle-backfill": "COH220",
    "W2-shed-barrier": "COH207",
}


def test_every_design_is_known_here() -> None:
    assert {path.stem for path in DESIGNS.glob("*.yaml")} == set(EXPECTED)


SLOW = {"W1-throttle-backfill"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in sorted(EXPECTED)]
)
def test_design(name: str) -> None:
    report = check(DESIGNS / f"{name}.yaml")
    conflicts = {finding.code: finding for finding in report.findings if finding.verdict is Verdict.CONFLICT}
    wanted = EXPECTED[name]
    if wanted is None:
        assert not conflicts, [f.message for f in conflicts.values()]
        assert all(f.severity is Severity.INFO for f in report.findings), [f.message for f in report.findings]
        return
    assert wanted in conflicts, sorted(conflicts)
    finding = conflicts[wanted]
    assert finding.evidence.witness
    assert all(place.line > 0 for place in finding.places)
    assert finding.places[0].file.endswith(f"{name}.yaml")
