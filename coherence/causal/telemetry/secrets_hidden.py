"""Hides credentials in what a server says back, in whatever spelling it says them.

A server may quote a login as it was sent, as part of an address (percent-encoded), inside JSON (escapes, also of an
answer within an answer) or inside a page: each character of a secret is looked for in all of these.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache

from coherence.base.outside_text import MASK

SHORTEST_WORD = 4  # characters of a part of a secret that is hidden by itself


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Returns the text with `***` for each of the secrets, the longest first, in every spelling."""
    pattern = _pattern(tuple(sorted({secret for secret in secrets if secret}, key=len, reverse=True)))
    return pattern.sub(MASK, text) if pattern is not None else text


def parts_of(secret: str) -> tuple[str, ...]:
    """Returns a secret and its words, since a server may quote one of these alone."""
    return (secret, *(word for word in re.split(r"[\s,]+", secret) if len(word) >= SHORTEST_WORD))


@cache
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join("".join(map(_spelled, secret)) for secret in secrets)) if secrets else None


@cache
def _spelled(character: str) -> str:
    """Returns the pattern of one character: itself, and as JSON, addresses and pages write it."""
    octets = character.encode("utf-8", "surrogatepass")
    units = character.encode("utf-16-be", "surrogatepass").hex()
    escapes = "".join(rf"\\{{1,8}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
    encoded, latin = "".join(f"%{octet:02x}" for octet in octets), octets.decode("latin-1")
    named = html.escape(character)
    entities = [f"&#0{{0,4}}{ord(character)};", f"&#x0{{0,4}}{ord(character):x};"]
    entities += [re.escape(named)] if named != character else []  # else it would end before a second backslash
    plain = rf"\\{{0,8}}{re.escape(character)}" if character in "\"'\\/" else re.escape(character)
    spellings = [f"(?i:{escapes}|{encoded}|{'|'.join(entities)})", plain]
    spellings += [re.escape(latin)] if latin != character else []
    spellings += [r"\+"] if character == " " else []
    return f"(?:{'|'.join(spellings)})"
