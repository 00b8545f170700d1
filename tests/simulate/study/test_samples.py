"""A study that is stopped keeps the runs that were done."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study import samples
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

PLAIN = """\
coherence: 1
workload: {web: {rate: 5 req/s, service: {mean: 10 ms, cv: 0}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def stop_after(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, begun = samples._parts, []

    def counted(*words: object, **named: object) -> object:
        begun.append(1)
        if len(begun) > number:
            raise KeyboardInterrupt
        return parts(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(samples, "_parts", counted)


def test_runs_that_were_done_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(2, monkeypatch)
    found = study(read_text(PLAIN, "d.yaml"), Setting(20.0, seeds=(1, 2, 3, 4)))
    assert found.stopped
    assert found.setting.seeds == (1, 2)
    assert len(found.samples) == 2
    assert {reading.what for reading in found.readings} >= {"succeed", "P99"}


def test_nothing_is_kept_of_a_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        study(read_text(PLAIN, "d.yaml"), Setting(20.0, seeds=(1, 2)))
