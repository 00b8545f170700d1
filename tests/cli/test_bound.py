"""`coherence bound --strict`: a floor that is not known is an open answer."""

from __future__ import annotations

import pytest

from coherence.cli._run import run
from tests.paths import SPECS


@pytest.mark.parametrize(("design", "code"), [("serving-hpc", 4), ("retry-storm", 0)])
def test_strict_exits_4_where_a_floor_is_missing_and_all_is_read(
    design: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherence.door.unread.unread", lambda *_: ())
    assert run(["bound", str(SPECS / design / "design.yaml")]) == 0
    assert run(["bound", str(SPECS / design / "design.yaml"), "--strict"]) == code
