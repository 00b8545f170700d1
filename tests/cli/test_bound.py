"""`coherence bound --strict`: a floor that is not known is an open answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.cli._run import run

QUEUE = """coherence: 1
workload: {{web: {{rate: 8 req/s, service: {{mean: 1 s, cv: 1{more}}}}}}}
components: {{pool: {{copies: 10}}}}
calls: [{{from: web, to: pool}}]
"""


@pytest.mark.parametrize(("more", "code"), [(", max: 2 s", 4), ("", 0)])
def test_strict_exits_4_where_a_floor_is_missing_and_all_is_read(
    more: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherence.door.unread.unread", lambda *_: ())
    design = tmp_path / "design.yaml"
    design.write_text(QUEUE.format(more=more), encoding="utf-8")
    assert run(["bound", str(design)]) == 0
    assert run(["bound", str(design), "--strict"]) == code
