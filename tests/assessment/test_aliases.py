"""Aliases of names: a kind and a number, the same everywhere, and never inside of another word."""

from __future__ import annotations

from pathlib import Path

from coherence.assessment.aliases import aliases
from coherence.assessment.parts.answers import assess

TEXT = """\
coherence: 1
system: our shop
components: {cart: {demand: 4}}
loops: {scaler: {contact: ann, trigger: true, timescale: {period: 10 s}, target: {signal: cart.demand},
        actuation: {signal: cart.copies, law: step, by: 1, bounds: [1, 9], from: 1}}}
"""


def test_names_become_kinds_with_numbers(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(TEXT, encoding="utf-8")
    shown = aliases(assess(str(tmp_path / "d.yaml"), seconds=20, today="2026-01-01"))
    assert shown("scaler of ann reads cart.demand") == "loop 1 of owner 1 reads component 1.signal 1"
    assert shown("our shop: a cartwheel, 4 carts") == "system 1: a cartwheel, 4 carts"
