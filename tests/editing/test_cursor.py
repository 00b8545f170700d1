"""What stands at a place, and the names above it."""

from __future__ import annotations

import pytest

from coherence.editing.cursor import before, node_at, path_before
from coherence.language.document import Scalar

TEXT = """\
coherence: 1
calls:
  - {from: users, to: web, deadline: 2 s}
loops:
  hpa:
    timescale:
      period: 15 s
"""


@pytest.mark.parametrize(
    ("line", "column", "path", "value"),
    [
        (2, 2, ("calls",), None),
        (3, 28, ("calls", "deadline"), "2 s"),
        (3, 38, ("calls", "deadline"), "2 s"),
        (7, 8, ("loops", "hpa", "timescale", "period"), "15 s"),
        (7, 16, ("loops", "hpa", "timescale", "period"), "15 s"),
        (5, 3, ("loops", "hpa"), None),
    ],
)
def test_keys_and_values_have_their_path(line: int, column: int, path: tuple[str, ...], value: str | None) -> None:
    target = node_at(TEXT, line, column)
    assert target is not None
    assert target.path == path
    assert (target.node.text if isinstance(target.node, Scalar) else None) == value


@pytest.mark.parametrize("text", ["", "a: [", "\x00", "a: &b *b", "- 1"])
def test_between_and_beyond_stands_nothing(text: str) -> None:
    assert node_at(text, 99, 1) is None
    assert path_before(text, 99, 5) == ()
    assert before(text, 99, 5) == ""


def test_the_path_is_seen_while_the_text_is_no_yaml() -> None:
    assert path_before("loops:\n  hpa:\n    timescale:\n      ho", 4, 9) == ("loops", "hpa", "timescale")
    assert path_before("calls:\n  - {from: a, retry: {pe", 2, 24) == ("calls", "retry")
    assert path_before("calls:\r\n  - {from: a, to: b}\r\n  - {fr", 3, 8) == ("calls",)
    assert path_before("a: 1\nwor", 2, 4) == ()
