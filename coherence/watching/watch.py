"""Runs a watch: a tick takes the scrapes since the last one, checks the moved design, keeps the state and gives notice.

The clock and the source are arguments: a server and its wall time, or a simulation of weeks.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from coherence.base.errors import CoherenceError
from coherence.watching.exposition import exposition, families
from coherence.watching.measured_design import MeasuredDesign
from coherence.watching.monitor import AlertEvent, SystemMonitor
from coherence.watching.scrapes import ScrapeSource
from coherence.watching.stored_state import write_state
from coherence.watching.webhook import Webhook

FINDING = "finding"
MOST_BACK = 604_800.0  # s that a restart looks back by itself: the week of the longest reference


@dataclass
class Watch:
    """A monitor with its source, its design, and where its state and notices go."""

    monitor: SystemMonitor
    source: ScrapeSource
    design: MeasuredDesign | None = None
    webhook: Webhook = field(default_factory=lambda: Webhook(None))
    state: str | None = None
    errors: int = 0
    usual: frozenset[str] = frozenset()  # problems of the design as it stands
    looked: float = -math.inf  # up to when the source has answered
    metrics: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Checks the design as it stands: what it has already is no change."""
        if self.design is not None:
            self.usual = frozenset(self.design.problems({}))
        self._publish()

    def start(self, now: float, back: float) -> float:
        """Returns from when on scrapes are asked: the last one that an earlier run took, a week ago or `back` seconds
        ago at the earliest; `back` seconds ago where there is none.
        """
        if not self.monitor.scrapes:
            return max(now - back, 0.0)
        return max(self.monitor.last, now - max(back, MOST_BACK), 0.0)

    def lost(self, now: float, since: float) -> Iterator[str]:
        """Yields what a restart does not take."""
        away = now - self.monitor.last
        if away < -self.monitor.step:
            yield f"the state ends {-away / 3600:.1f} h from now, and nothing is taken until then: remove it"
        if self.monitor.scrapes and since > self.monitor.last:
            ends, reach = away / 86_400, (now - since) / 86_400
            yield f"the state ends {ends:.1f} d ago, and {reach:.1f} d are asked: all with --back '{ends + 0.1:.1f} d'"

    def tick(self, since: float, until: float) -> Iterator[AlertEvent | str]:
        """Takes all scrapes from `since` until then that were not asked yet; yields alerts, and what went wrong."""
        events: list[AlertEvent] = []
        begun = max(since, self.looked, self.monitor.last if self.monitor.scrapes else since)
        try:
            for end, scrapes in self.source.pieces(begun, until):
                for time, values in scrapes:
                    events += self.monitor.take(time, values)
                self.looked = end
        except CoherenceError as error:
            self.errors += 1
            yield str(error)
        if self.design is not None and self.monitor.scrapes:
            events += self._design_events(self.design)
        self.webhook.add(self.monitor.system.system, events)
        self._keep()
        yield from events
        refused = self.webhook.deliver()
        if refused is not None:
            yield refused
        self._publish()

    def _design_events(self, design: MeasuredDesign) -> Iterator[AlertEvent]:
        """Opens an alert for each problem that measured numbers bring, and closes those that they no longer do."""
        means = {name: mean for name in design.axes if (mean := self.monitor.hour_mean(name)) is not None}
        problems = design.problems(means)
        time = self.monitor.last
        for name in sorted(set(problems) - self.usual):
            yield from _present(self.monitor.turn(f"{FINDING} {_one_word(name)}", time, problems[name], opens=True))
        now = {f"{FINDING} {_one_word(name)}" for name in problems}
        for key in [key for key in self.monitor.alerts if key.startswith(f"{FINDING} ") and key not in now]:
            yield from _present(self.monitor.turn(key, time, "", opens=False))

    def _keep(self) -> None:
        """Writes the state with the notices that wait, before one is sent: none is lost, one may come twice."""
        if self.state is not None:
            write_state(self.state, self.monitor, self.webhook.waiting, self.errors)

    def _publish(self) -> None:
        counts = {"errors_total": self.errors, "webhooks_waiting": len(self.webhook.waiting),
                  "webhooks_dropped_total": self.webhook.dropped}  # fmt: skip
        text = exposition(families(self.monitor, counts))
        with self.lock:
            self.metrics = text

    def text(self) -> str:
        """Returns the metrics of the last tick."""
        with self.lock:
            return self.metrics


def _present(event: AlertEvent | None) -> tuple[AlertEvent, ...]:
    return () if event is None else (event,)


def _one_word(name: str) -> str:
    """Returns the name without spaces: the last word of an alert's key is its subject."""
    return name.replace(" ", "_")


def run(
    watch: Watch, *, every: float, clock: Callable[[], float], sleep: Callable[[float], None], ends: float,
    back: float, show: Callable[[AlertEvent | str], None],
) -> None:  # fmt: skip
    """Ticks every so many seconds until the clock has come to `ends`; the first tick looks `back` seconds back, or to
    where the state ends.
    """
    watch.begin()
    since, failed = watch.start(clock(), back), ""
    for lost in watch.lost(clock(), since):
        show(lost)
    while True:
        for event in watch.tick(since, clock()):
            if isinstance(event, AlertEvent) or event != failed:
                show(event)
            failed = event if isinstance(event, str) else failed
        if clock() + every > ends:
            return
        sleep(every)
