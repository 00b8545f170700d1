"""A state that is written and read is the monitor that goes on, value for value; what is none is refused."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.known_systems.scraped import STEP, scrapes
from coherence.base.errors import UsageError
from coherence.watching.measured_design import MeasuredDesign
from coherence.watching.monitor import SystemMonitor
from coherence.watching.oscillations import PeriodShare
from coherence.watching.scrapes import Scrape
from coherence.watching.stored_state import read_state, state_of, write_state
from coherence.watching.watch import Watch
from coherence.watching.webhook import Webhook
from tests.watching.systems import Recorded, monitored, system

WAITING = [{"system": "s", "state": "open", "time": 1.0, "kind": "DI", "of": "web", "since": 1.0, "message": "slower"}]


@pytest.mark.slow
def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    rows = list(islice(scrapes(5, 0.2), 700))
    whole, _ = monitored(rows)
    first, _ = monitored(rows[:333])
    file = tmp_path / "state.json"
    write_state(file, first, WAITING, errors=2)
    kept = read_state(file, system(), STEP, 4.0)
    assert kept is not None
    again, more = kept
    assert (more["waiting"], more["errors"]) == (WAITING, 2)
    monitored(rows[333:], again)
    assert json.dumps(state_of(again)) == json.dumps(state_of(whole))


def test_what_was_kept_otherwise_is_refused_with_its_remedy_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    assert read_state(file, system(), STEP, 4.0) is None
    monitor, _ = monitored(islice(scrapes(5, 0.1), 30))
    write_state(file, monitor)
    before = file.read_bytes()
    own = system()
    name, query = next(iter(own.queries.items()))
    others = [
        (own, 30.0, f"kept with --every {STEP:g} s, and this is 30 s: give --every '{STEP:g} s'"),
        (replace(own, system="other"), STEP, "kept for the system 'service', and this is 'other'"),
        (replace(own, queries={**own.queries, name: "up"}), STEP, f"{name} was `{query}`, and now it is `up`"),
        (replace(own, queries={**own.queries, "x": "up"}), STEP, "x was not asked, and now it is `up`"),
        (replace(own, queries={n: q for n, q in own.queries.items() if n != name}), STEP, "now it is not asked"),
    ]
    for watched, step, words in others:
        with pytest.raises(UsageError, match=re.escape(words)):
            read_state(file, watched, step, 4.0)
    assert file.read_bytes() == before
    assert read_state(file, own, STEP, 4.0) is not None


def test_a_watch_that_has_taken_nothing_yet_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    write_state(file, SystemMonitor(system(), STEP), errors=3)
    kept = read_state(file, system(), STEP, 4.0)
    assert kept is not None
    assert (kept[0].scrapes, kept[1]["errors"]) == (0, 3)


def test_what_is_no_state_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for text in ("{}", "[1]", "no", '{"version": 1, "step": 15.0}', '{"version": 2}', "[" * 5000, "\udc00", "1" * 5000):
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        with pytest.raises(UsageError, match="is no state of a watch"):
            read_state(file, system(), STEP, 4.0)
    with pytest.raises(UsageError, match="is not overwritten"):
        write_state(file, SystemMonitor(system(), STEP))


JUNK: tuple[Any, ...] = (
    None, "x", "\udc00", [], {}, -1, 1e300, 10**400, [5], {"a": 1}, math.nan, True,
)  # fmt: skip


@pytest.mark.slow
def test_each_value_of_a_state_that_is_another_is_refused_or_harmless(tmp_path: Path) -> None:
    rows = list(islice(scrapes(5, 0.2), 145))
    monitor, _ = monitored(rows[:122])  # what comes then ends a block and a stretch
    monitor.periods["web.latency"] = PeriodShare(0.1, 300.0, 0.2)
    monitor.turn("finding COH224_of_web", monitor.last, "collapses", opens=True)
    file = tmp_path / "state.json"
    write_state(file, monitor, WAITING)
    whole = json.loads(file.read_bytes())
    refused, harmless, longest, watched = 0, 0, "", system()
    for holder, key in list(_places(whole)):
        value = holder[key]
        for junk in JUNK:
            holder[key] = junk
            file.write_text(json.dumps(whole), encoding="utf-8")
            try:
                kept = read_state(file, watched, STEP, 4.0)
            except UsageError as error:
                refused += 1
                longest = max(longest, str(error), key=len)
                continue
            assert kept is not None
            _used(kept, rows[122:])
            harmless += 1
        holder[key] = value
    assert refused > harmless > 0
    assert len(longest) < 600


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where each value stands: of a list the first part, of a mapping all."""
    keys = list(value) if isinstance(value, dict) else list(range(min(1, len(value))))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _used(kept: tuple[SystemMonitor, Mapping[str, Any]], rows: list[Scrape]) -> None:
    monitor, state = kept
    hook = Webhook("http://127.0.0.1:9/", state["waiting"])
    watch = Watch(monitor, Recorded(rows), MeasuredDesign({}, {}, lambda _: {}), hook, errors=state["errors"])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # sums of 1e300, which a server can answer, too
        watch.begin()
        list(watch.tick(0.0, rows[-1][0]))
    watch.text().encode()
    json.dumps(state_of(monitor))
