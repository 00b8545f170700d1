"""Names a fact about jobs and places that a design does not state."""

from __future__ import annotations

from coherence.base.places import Place


class NeedsError(ValueError):
    """A fact that the design does not state; the text completes `undecided: needs ...`."""

    def __init__(self, needs: str, place: Place | None = None) -> None:
        super().__init__(f"needs {needs}")
        self.needs, self.place = f"needs {needs}", place
