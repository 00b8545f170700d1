"""A loop whose phase lies beyond every run that is looked at is not quiet: nothing of it was seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.cli._run import run
from tests.paths import SPECS

if TYPE_CHECKING:
    import pytest


def test_a_phase_far_beyond_the_period_ends_no_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SPECS / "hpa-metric-lag" / "design.yaml").read_text(encoding="utf-8")
    late, count = re.subn("phase: 500 ms", "phase: 1000 s", text)
    assert count == 1
    (tmp_path / "design.yaml").write_text(late, encoding="utf-8")
    assert run(["check", str(tmp_path / "design.yaml"), "--no-cache"]) == 0
    assert "undecided" in capsys.readouterr().out
