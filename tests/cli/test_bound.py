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


def test_an_input_is_a_fraction_or_a_range_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for loss in ("15/16", "0.9375", "15/16 .. 15/16"):
        assert run(["bound", "lossy_channel_growth", f"loss={loss}", "bits=1", "moment=2"]) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1


def test_a_name_that_no_bound_is_near_leads_to_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "zzzzzz"]) == 2
    assert capsys.readouterr().err == "error: there is no bound 'zzzzzz': coherence bound --list shows all\n"
