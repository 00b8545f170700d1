"""Converts quantities of a design into numbers of a run: of a range, which is unknown, the lower end."""

from __future__ import annotations

from coherence.language.schema_kinds import Quantity


def lower(value: Quantity, what: str, notes: list[str]) -> float:
    """Returns the value, in SI; for a range its lower end, as the exact executor takes it, and a note."""
    if not value.exact:
        notes.append(f"{what} = {value.text.split('..')[0].strip()}, the lower end of {value.text}")
    return float(value.low)
