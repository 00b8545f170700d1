"""Which entries of a design share something, and so are asked together."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.model.independent_parts import parts

PLACED = """coherence: 1
components: {{web: {{copies: 3{need}}}, db: {{copies: 2}}}}
places: {{node: {{count: 4, zone: a{room}}}}}
placement: {{web: [spread by node <= 1], db: [spread by zone <= 1]}}
"""


@pytest.mark.parametrize(
    ("room", "need", "apart"),
    [("", "", True), (", room: 3", "", False), (", memory: 64 GiB", ", needs: {memory: 1 GiB}", False)],
)
def test_things_on_places_without_room_to_share_are_asked_about_apart(room: str, need: str, apart: bool) -> None:
    found = parts(read_text(PLACED.format(room=room, need=need if room else "")))
    together = [{str(unit.name) for unit in part} for part in found]
    assert any({"web", "db"} <= names for names in together) is not apart
