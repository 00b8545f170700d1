"""A watch over a source that fails, a restart in between, notices, and a design that is moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bench.known_systems.scraped import STEP, scrapes
from coherence.base.errors import UsageError
from coherence.watching.measured_design import MeasuredDesign
from coherence.watching.monitor import AlertEvent, SystemMonitor
from coherence.watching.stored_state import read_state, state_of
from coherence.watching.watch import Watch, run
from coherence.watching.webhook import Webhook
from tests.watching.systems import Recorded, monitored, system

ROWS = list(islice(scrapes(5, 0.1), 400))


@dataclass
class Failing:
    """Answers like another source, but for every third time, half of which after some scrapes."""

    inner: Recorded
    times: int = 0
    since: list[float] = field(default_factory=list)

    def scrapes(self, after: float, until: float) -> Iterator[tuple[float, Mapping[str, float]]]:
        self.times += 1
        self.since.append(after)
        for number, scrape in enumerate(self.inner.scrapes(after, until)):
            if self.times % 3 == 0 and number >= self.times % 2 * 7:
                raise UsageError("the server has gone")
            yield scrape


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
    assert source.since == [700.0] * 7
