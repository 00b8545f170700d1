"""Quantities of a design as numbers of a run: a range is an unknown constant, of which a run takes the lower end."""

from __future__ import annotations

from coherence.language.schema_kinds import Quantity


def lower(value: Quantity, what: str, notes: list[str]) -> float:
    """The value, in SI; for a range its lower end, as the exact executor takes it, and a note."""
    if not value.exact:
        notes.append(f"{what} = {value.text.split('..')[0].strip()}, the lower end of {value.text}")
    return float(value.low)
