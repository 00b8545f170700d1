"""Defines what a family draws: a design, and what a list of all cases says of it."""

from __future__ import annotations

from typing import NamedTuple


class Drawn(NamedTuple):
    """A design, the codes of the questions that decide it, and its truth.

    `breaks`: whether some case breaks it (None: both answers may stand); `always`: whether every case does, where that
    was listed.  `of`: the promise whose answer it is, whichever question gives it.
    `unprovable`: whether a proof is wrong where `breaks` is None.
    `speaks`: whether a question that says nothing of it is wrong.
    """

    text: str
    codes: tuple[str, ...]
    breaks: bool | None
    always: bool | None = None
    of: str = ""
    speaks: bool = True
    unprovable: bool = False
