"""Writes the alert rules of a design for a Prometheus: of what its watch tells, and of the deadlines that it states.

SOURCE: Prometheus documentation, Alerting rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from coherence.base.number_text import render_seconds
from coherence.watching.signals import WatchedSystem

MARK = b"# written by `coherence watch`"


def alert_rules(system: WatchedSystem) -> str:
    """Returns the file of rules: YAML, of which JSON texts are a part."""
    lines = [MARK.decode(), "groups:", f"  - name: {_text(f'coherence of {system.system}')}", "    rules:"]
    for name, query, wait, summary in _rules(system):
        lines += [
            f"      - alert: {name}", f"        expr: {_text(query)}", f"        for: {wait}",
            f"        labels: {{severity: warning, system: {_text(_literal(system.system))}}}",
            f"        annotations: {{summary: {_text(summary)}}}",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _literal(words: str) -> str:
    """Returns words that a template of Prometheus leaves as they are."""
    return words.replace("{{", '{{ "{{" }}')


def _rules(system: WatchedSystem) -> Iterator[tuple[str, str, str, str]]:
    """Yields name, query, how long it holds, and summary."""
    yield ("CoherenceChange", "coherence_alert == 1", "0s", "{{ $labels.kind }} of {{ $labels.of }} has changed")
    yield ("CoherenceWatchBlind", "time() - coherence_watch_last_scrape_timestamp_seconds > 300", "5m",
           "the watch has no scrape of the last five minutes")  # fmt: skip
    yield ("CoherenceWatchAbsent", "absent(coherence_watch_scrapes_total)", "5m", "the watch is not scraped")
    for load in system.workloads:
        if load.deadline is None:
            continue
        after, name = render_seconds(load.deadline), _literal(load.name)
        if load.has("p99"):
            query = f"({system.queries[load.signal('p99')]}) > {load.deadline:g}"
            yield ("CoherenceDeadline", query, "5m", f"1 % of the requests of {name} take longer than {after}")
        breach = f'coherence_time_to_breach_seconds{{workload={_text(load.name)},end="high"}} < 86400'
        yield ("CoherenceBreachToday", breach, "10m", f"the margin of {name} below {after} is gone within a day")
