"""Posts each alert that opens or closes to a URL as JSON, in order; what is not taken waits, also over a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from coherence.base.errors import UsageError
from coherence.causal.telemetry.bounded_http import http_address, notified
from coherence.watching.monitor import AlertEvent

SECONDS = 5.0  # of one tick, for all that waits
MOST_WAITING = 1000


@dataclass
class Webhook:
    """Where notices go, and those that wait."""

    url: str | None
    waiting: list[dict[str, Any]] = field(default_factory=list)
    dropped: int = 0

    def __post_init__(self) -> None:
        if self.url is None:
            return
        plain, mark, query = self.url.partition("?")
        address = http_address(plain, of="a webhook", example="http://localhost:9093/alerts")
        if not query.isascii() or not query.isprintable() or " " in query:
            raise UsageError(f"{self.url!r} is not the address of a webhook: write %20 and the like in its query")
        self._address, self._query = address, mark + query

    def add(self, system: str, events: Sequence[AlertEvent]) -> None:
        """Adds notices; the oldest are given up where a thousand wait."""
        if self.url is None:
            return
        for event in events:
            state = "open" if event.opens else "closed"
            self.waiting.append({"system": system, "state": state, "time": event.time, **asdict(event.alert)})
        self.dropped += max(0, len(self.waiting) - MOST_WAITING)
        del self.waiting[:-MOST_WAITING]

    def deliver(self) -> str | None:
        """Posts what waits until one is refused, and returns why; begins none when half of the time is over."""
        begun = monotonic()
        while self.url is not None and self.waiting and (spent := monotonic() - begun) < SECONDS / 2:
            try:
                status, reason = notified(self._address, self._query, self.waiting[0], seconds=SECONDS - spent)
            except UsageError as error:
                return f"the webhook takes nothing: {error}"
            if not 200 <= status < 300:
                return f"the webhook takes nothing: it answers {status} {reason}"
            del self.waiting[0]
        return None
