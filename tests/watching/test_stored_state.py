"""A state that is written and read is the monitor that goes on, value for value; what is none is refused."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from bench.known_systems.scraped import STEP, scrapes
from coherence.base.errors import UsageError
from coherence.watching.stored_state import read_state, state_of, write_state
from tests.watching.systems import monitored, system


def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    rows = list(islice(scrapes(5, 0.2), 700))
    whole, _ = monitored(rows)
    first, _ = monitored(rows[:333])
    file = tmp_path / "state.json"
    write_state(file, first, {"waiting": [{"kind": "DI"}]})
    kept = read_state(file, system(), STEP, 4.0)
    assert kept is not None
    again, more = kept
    assert more["waiting"] == [{"kind": "DI"}]
    monitored(rows[333:], again)
    assert json.dumps(state_of(again)) == json.dumps(state_of(whole))


def test_another_design_begins_anew_and_what_is_no_state_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    assert read_state(file, system(), STEP, 4.0) is None
    monitor, _ = monitored(islice(scrapes(5, 0.1), 30))
    write_state(file, monitor, {})
    other = system("coherence: 1\nworkload: {web: {rate: 1 req/s}}\ntelemetry: {web.rate: up}\n")
    assert read_state(file, other, STEP, 4.0) is None
    assert read_state(file, system(), 30.0, 4.0) is None
    for text in ("{}", "[1]", "no", '{"version": 1, "step": 15.0}', "[" * 5000):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="is no state of a watch"):
            read_state(file, system(), STEP, 4.0)
    with pytest.raises(UsageError, match="is not overwritten"):
        write_state(file, monitor, {})
