"""What a sweep judges, and that it says so where there is nothing for it to judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from coherence.cli._run import run
from tests.paths import ROOT

if TYPE_CHECKING:
    import pytest

STORM = str(ROOT / "specs" / "retry-storm" / "design.yaml")


def test_a_design_without_a_loop_is_not_said_to_settle(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", STORM, "-p", "workload.clients.rate=50 req/s:400 req/s:4", "--jobs", "1", "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"undecided": 4}
    assert {point["why"] for point in told["points"]} == {
        "the design has no loop in feedback, and a sweep judges nothing else: ask coherence check"
    }
