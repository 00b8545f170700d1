"""Makes text that comes from outside safe to show: visible, on one line, without credentials, shortened.

Outside are manifests, headers of tables, labels, answers of servers, paths and the command line: none of them may move
the cursor, forge a line or carry a password into a message, a table, a page or a picture.
"""

from __future__ import annotations

import re
from functools import cache

# C0 and C1 controls, marks that reorder text, line separators, lone surrogates, and what XML 1.0 forbids.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_UNPRINTABLE = re.compile(r"(?!\x1b\[[0-9;]{0,12}m)(?![\n\t])" + _UNSAFE.pattern)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
MASK = "***"
_NAMED = r"""((?:password|passwd|pwd|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|credentials?
    |(?:access|auth|bearer|refresh|session)[-_]?token|(?<![a-z])token(?==)|(?<![a-z])sig(?:nature)?(?==))
    [\w-]*["']?\s?[=:]\s?["']?)((?!\d+(?:[.,]\d+)?\b)(?!\*)[^\s"'&,;)}\]]{3,})"""
_SHAPED = (
    r"\b()(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|AIza[\w-]{30,})"
)
_CLIENTS = r"mysql|mariadb|mongo|sshpass|redis-cli"  # take a password after -p or -a, as one word or two
_ARGUMENT = rf"""(\b(?:{_CLIENTS})\w*\b[^\n|;&]*?[\s"'\[,]-[pa]["',\s]*)((?!-)[^\s"',\]]{{3,}})"""
_USER = r"""([\s"'\[,](?:-u|--user)["',=\s]+[\w.@-]+:)((?!//)[^\s"',\]]{3,})"""  # of curl and wget

LONGEST = 2_000  # characters of a message


def visible(text: str) -> str:
    """Returns the text on one line, with credentials masked and unsafe characters as escapes such as `\\x1b`."""
    return escaped(masked(text))


def escaped(text: str) -> str:
    """Returns the text on one line with every unsafe character written as an escape, and nothing else changed."""
    return _UNSAFE.sub(lambda match: escape(match[0]), text)


def printable(text: str) -> str:
    """Returns lines of a text with every unsafe character but ends of lines, tabs and colours written as an escape."""
    return _UNPRINTABLE.sub(lambda match: escape(match[0]), text)


def escape(character: str) -> str:
    """Returns `\\n`, `\\x1b` or `\\u202e`: ASCII that shows a character which must not be printed."""
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def masked(text: str, *, same_length: bool = False) -> str:
    """Returns the text with `***` for what looks like a credential: users of addresses, named secrets, known keys.

    same_length: with as many stars as there were characters, so that what stands behind keeps its column.
    """
    if not _suspect().search(text):
        return text
    for pattern in _masks():
        text = pattern.sub(lambda match: match[1] + ("*" * len(match[2]) if same_length else MASK), text)
    return text


def masked_lines(text: str) -> str:
    """Returns a text of many lines with `***` for what looks like a credential in one of them."""
    if not _suspect().search(text):
        return text
    return "".join(masked(line) for line in text.splitlines(keepends=True))


@cache
def _suspect() -> re.Pattern[str]:
    """What every text that is masked holds."""
    words = (
        "://|pass|pwd|secret|key|cred|token|sig|bearer|basic|eyJ|gh[pousr]_|github_|glpat|AKIA|xox|sk-|AIza|-u|--user"
    )
    return re.compile(f"{words}|{_CLIENTS}", re.IGNORECASE)


@cache
def _masks() -> tuple[re.Pattern[str], ...]:
    """What is masked, as what stands before it and itself: a user, a named secret, a login, a key of known shape."""
    return (
        re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]*://)([^\s'\"]+)(?=@)"),
        re.compile(_NAMED, re.IGNORECASE | re.VERBOSE),
        re.compile(r"\b((?:bearer|basic)\s+)((?=\S*[\d_=.+/-])[\w+/=.~-]{8,})", re.IGNORECASE),
        re.compile(_ARGUMENT),
        re.compile(_USER),
        re.compile(_SHAPED),
    )


def shown(text: str, limit: int = LONGEST) -> str:
    """Returns the text as a message may hold it: credentials masked, unsafe characters escaped, cut in the middle."""
    text = text if len(text) <= limit else f"{text[: limit * 3 // 4]} ... {text[-limit // 4 :]}"
    return visible(text)
