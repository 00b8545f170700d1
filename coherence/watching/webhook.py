"""Posts each alert that opens or closes to a URL as JSON, in order; what is not taken waits, also over a restart."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from coherence.base.errors import UsageError
from coherence.causal.telemetry.bounded_http import http_address
from coherence.watching.monitor import AlertEvent

SECONDS = 5.0
MOST_WAITING = 1000
AT_ONCE = 20  # notices of one tick


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class Webhook:
    """Where notices go, and those that wait."""

    url: str | None
    waiting: list[dict[str, Any]] = field(default_factory=list)
    dropped: int = 0

    def __post_init__(self) -> None:
        if self.url is not None:
            address = http_address(self.url.partition("?")[0], of="a webhook", example="http://localhost:9093/alerts")
            self._headers = {"Content-Type": "application/json", **address.headers}
            query = self.url.partition("?")[2]
            self._target = address.url + (f"?{query}" if query else "")

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
        """Posts what waits until one is refused, and returns why."""
        for _ in range(min(AT_ONCE, len(self.waiting))):
            try:
                self._post(json.dumps(self.waiting[0], allow_nan=False).encode())
            except (OSError, UsageError, ValueError) as error:
                return f"the webhook takes nothing: {error}"
            del self.waiting[0]
        return None

    def _post(self, body: bytes) -> None:
        request = urllib.request.Request(self._target, data=body, headers=self._headers)  # noqa: S310  (http alone)
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=SECONDS) as answer:
            answer.read(1 << 16)
