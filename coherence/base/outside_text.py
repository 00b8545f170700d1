"""Makes text that comes from outside safe to show: visible, on one line, without credentials, shortened.

Outside are manifests, headers of tables, labels, answers of servers, paths and the command line: none of them may move
the cursor, forge a line or carry a password into a message, a table, a page or a picture.
"""

from __future__ import annotations

import re
from functools import cache

# C0 and C1 controls, marks that reorder text, line separators, lone surrogates, and what XML 1.0 forbids.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
MASK = "***"
_NAMED = r"""((?:password|passwd|pwd|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|credentials?
    |(?:access|auth|bearer|refresh|session)[-_]?token|(?<![a-z])token(?==)|(?<![a-z])sig(?:nature)?(?==))
    [\w-]*["']?\s?[=:]\s?["']?)(?!\d+(?:[.,]\d+)?\b)(?!\*)[^\s"'&,;)}\]]{3,}"""
_SHAPED = (
    r"\b(?:eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|AIza[\w-]{30,})"
)

LONGEST = 2_000  # characters of a message


def visible(text: str) -> str:
    """Returns the text on one line with every unsafe character written as an escape such as `\\x1b`."""
    return _UNSAFE.sub(lambda match: escape(match[0]), text)


def escape(character: str) -> str:
    """Returns `\\n`, `\\x1b` or `\\u202e`: ASCII that shows a character which must not be printed."""
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def masked(text: str) -> str:
    """Returns the text with `***` for what looks like a credential: users of addresses, named secrets, known keys."""
    for pattern, replacement in _masks():
        text = pattern.sub(replacement, text)
    return text


@cache
def _masks() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Returns what is masked: a user in an address, a value whose key names a secret, a login, a known key."""
    return (
        (re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s'\"]*@"), rf"\1{MASK}@"),
        (re.compile(_NAMED, re.IGNORECASE | re.VERBOSE), rf"\1{MASK}"),
        (re.compile(r"\b((?:bearer|basic)\s+)(?=\S*[\d_=.+/-])[\w+/=.~-]{8,}", re.IGNORECASE), rf"\1{MASK}"),
        (re.compile(_SHAPED), MASK),
    )


def shown(text: str, limit: int = LONGEST) -> str:
    """Returns the text as a message may hold it: credentials masked, unsafe characters escaped, cut in the middle."""
    text = text if len(text) <= limit else f"{text[: limit * 3 // 4]} ... {text[-limit // 4 :]}"
    return visible(masked(text))
