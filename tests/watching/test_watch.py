"""A watch over a source that fails, a restart in between, notices, and a design that is moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest

from bench.known_systems.scraped import STEP, scrapes
from coherence.base.errors import UsageError
from coherence.watching.measured_design import MeasuredDesign
from coherence.watching.monitor import AlertEvent, SystemMonitor
from coherence.watching.scrapes import Piece
from coherence.watching.stored_state import read_state, state_of
from coherence.watching.watch import MOST_BACK, Watch, run
from coherence.watching.webhook import Webhook
from tests.watching.systems import Recorded, monitored, system

ROWS = list(islice(scrapes(5, 0.1), 400))


@dataclass
class Failing:
    """Answers like another source, but for every third time, half of which after a piece."""

    inner: Recorded
    times: int = 0
    since: list[float] = field(default_factory=list)

    def pieces(self, after: float, until: float) -> Iterator[Piece]:
        self.times += 1
        self.since.append(after)
        for number, piece in enumerate(self.inner.pieces(after, until)):
            if self.times % 3 == 0 and number >= self.times % 2:
                raise UsageError("the server has gone")
            yield piece


def test_a_source_that_fails_and_restarts_lose_no_scrape(tmp_path: Path) -> None:
    file, source, words = str(tmp_path / "state.json"), Failing(Recorded(ROWS)), list[AlertEvent | str]()

    def again() -> Watch:
        earlier = read_state(file, system(), STEP, 4.0)
        return Watch(earlier[0] if earlier else SystemMonitor(system(), STEP), source, state=file)

    for end in range(600, 6600, 600):  # a new process for each ten minutes
        words += again().tick(0.0, float(end))
    watch = again()
    words += watch.tick(0.0, 6000.0)
    assert words == ["the server has gone"] * 3
    whole, _ = monitored(row for row in ROWS if row[0] <= 6000)
    assert state_of(watch.monitor) == state_of(whole)
    assert "coherence_watch_scrapes_total 400.0" in watch.text()


def test_an_hour_of_a_moved_design_opens_a_finding_and_its_end_closes_it() -> None:
    levels: list[int] = []

    def check(texts: Mapping[str, str]) -> Mapping[str, str]:
        del texts
        return {"COH224 of web": "collapses"} if levels and levels[-1] > 20 else {}

    design = MeasuredDesign({}, {}, check)
    watch = Watch(SystemMonitor(system(), STEP), Recorded(ROWS), design, Webhook("http://127.0.0.1:9/"))
    watch.begin()
    assert [event for event in watch.tick(0.0, 3000.0) if isinstance(event, AlertEvent)] == []
    for level, opens in ((30, True), (30, None), (3, False)):
        levels.append(level)
        design.answers.clear()
        events = [event for event in watch.tick(0.0, 3000.0) if isinstance(event, AlertEvent)]
        assert [event.opens for event in events] == ([] if opens is None else [opens])
    assert [notice["state"] for notice in watch.webhook.waiting] == ["open", "closed"]
    assert watch.webhook.waiting[0]["of"] == "COH224_of_web"


def test_a_run_ends_when_its_clock_says() -> None:
    now, shown = [1000.0], list[AlertEvent | str]()

    def sleep(seconds: float) -> None:
        now[0] += seconds

    source = Failing(Recorded([]), times=2)
    watch = Watch(SystemMonitor(system(), STEP), source)
    run(watch, every=15.0, clock=lambda: now[0], sleep=sleep, ends=1100.0, back=300.0, show=shown.append)
    assert now[0] == 1090.0
    assert source.since == [
        700.0,
        1000.0,
        1015.0,
        1030.0,
        1030.0,
        1060.0,
        1075.0,
    ]  # what was answered is not asked again


@pytest.mark.parametrize(
    ("away", "back", "since"),
    [
        (3600.0, 0.0, 6000.0),
        (3600.0, 7200.0, 6000.0),
        (2 * MOST_BACK, 0.0, 6000.0 + MOST_BACK),
        (2 * MOST_BACK, 1.5 * MOST_BACK, 6000.0 + 0.5 * MOST_BACK),
        (-3600.0, 0.0, 6000.0),
    ],
)
def test_a_restart_asks_for_what_is_after_the_last_scrape_and_says_what_it_leaves(
    away: float, back: float, since: float
) -> None:
    shown = list[AlertEvent | str]()
    monitor, _ = monitored(row for row in ROWS[:3])
    monitor.last, source = 6000.0, Failing(Recorded([]), times=0)
    now = 6000.0 + away
    run(
        Watch(monitor, source),
        every=15.0,
        clock=lambda: now,
        sleep=lambda _: None,
        ends=now,
        back=back,
        show=shown.append,
    )
    assert source.since == [since]
    words = "nothing is taken until then" if away < 0 else "all with --back" if since > 6000.0 else None
    assert len(shown) == (words is not None)
    assert words is None or words in str(shown[0])
