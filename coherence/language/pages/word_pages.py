"""Prints what a word means that stands after the name of a thing: `web.failing`, `web.listed`."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.language.words import COUNTS, STATES

EXAMPLES: Mapping[str, str] = {
    "available": "members that serve, as a budget counts them: `counts: web.available, at_least: 2`",
    "unavailable": "members that do not, as a budget counts them: `counts: web.unavailable, at_most: 1`",
    "wanted": "how many members there are to be: `actuation: {signal: web.desired, law: step, by: 1, bounds: [1, 9]}`",
    "extra": "members beyond those wanted, while an update lasts: `counts: web.extra, at_most: 1`",
    "old": "members that an update has still to replace: `promises: {done: eventually web.old == 0}`",
    "out of service": "members that get no requests: `counts: web.unlisted, at_most: 1`",
    "left in service": "members that get requests: `promises: {served: always web.listed >= 4}`",
    "failing": "how many members fail together: `components: {web: {copies: 9, failing: 1}}`",
    "in work": "requests that are worked on: `counts: web.ongoing, at_most: 16, per: replica`",
    "connected": "connections that are open: `counts: db.connections, at_most: 100`",
    "waiting": "requests that wait: `counts: web.waiting, at_most: 80, when_full: reject`",
    "sent": "tries that are sent to a thing: `counts: web.attempts, at_most: 100, window: 1 min`",
    "sent again": "tries after the first one: `counts: web.retries, at_most: 20, window: 10 s`",
    "failures": "how often something of it has failed or begun anew: `counts: job.failures, at_most: 3`",
}


def word_page(name: str) -> str:
    """Returns the page of a word for the members or the work of a thing; nothing where it is none."""
    rows = {**COUNTS, **STATES}
    pages = [
        f"{name}, after the name of a thing: {EXAMPLES[row]}\n  means the same: {', '.join(words)}"
        for row, words in rows.items() if name in words
    ]  # fmt: skip
    return "\n".join(pages)


def counting_words() -> tuple[str, ...]:
    """Returns every word that has a page."""
    return tuple(word for words in (*COUNTS.values(), *STATES.values()) for word in words)
