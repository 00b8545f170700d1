"""What the tests of a watch share: the simulated service, and its monitor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bench.known_systems.scraped import DESIGN, STEP
from coherence.language.reading import read_text
from coherence.watching.monitor import AlertEvent, SystemMonitor
from coherence.watching.scrapes import Piece
from coherence.watching.signals import WatchedSystem, watched_system


def system(text: str = DESIGN) -> WatchedSystem:
    return watched_system(read_text(text, "d.yaml"), "service")


def monitored(
    scrapes: Iterable[tuple[float, Mapping[str, float]]], monitor: SystemMonitor | None = None
) -> tuple[SystemMonitor, list[AlertEvent]]:
    """A monitor after these scrapes, and the alerts on the way."""
    own = SystemMonitor(system(), STEP) if monitor is None else monitor
    return own, [event for time, values in scrapes for event in own.take(time, values)]


@dataclass
class Recorded:
    """A source that has these scrapes, in a list."""

    rows: list[tuple[float, Mapping[str, float]]]

    def pieces(self, after: float, until: float) -> Iterator[Piece]:
        """Pieces of seven scrapes, and the rest, which may be empty."""
        rows = [row for row in self.rows if after < row[0] <= until]
        yield from ((rows[k + 6][0], rows[k : k + 7]) for k in range(0, len(rows) - 6, 7))
        yield until, rows[len(rows) // 7 * 7 :]
