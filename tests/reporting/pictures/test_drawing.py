"""Drawings alone in a file and inside a page: one palette, light and dark."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from coherence.reporting.pictures.drawing import MOST_ROOM, Drawing, cut, lines_of, more_room, moved, palette, words_at
from coherence.reporting.pictures.figure import title_lines


def test_a_drawing_of_its_own_has_the_palette_a_title_and_room_for_it() -> None:
    text = Drawing("t <b>", "words", 100, 50, (words_at(1, 2, "x & y"),)).standalone()
    root = ET.fromstring(text)  # noqa: S314  (our own text)
    assert root.attrib["viewBox"] == "0 -36 100 86"
    assert "prefers-color-scheme:dark" in text
    assert "drawn by coherence" in text


def test_every_colour_of_light_has_one_of_dark_with_contrast() -> None:
    light, dark = (dict(re.findall(r"--(\w+):(#\w{6})", line)) for line in palette().splitlines()[:2])
    assert light.keys() == dark.keys()
    for colours in (light, dark):
        for name in ("ink", "muted", "accent", "bad", "warn", "good", "open"):
            for ground in ("ground", "surface"):
                assert _contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_a_number_stays_beside_its_unit() -> None:
    assert lines_of("it ends after 1.5 s: lost", 18) == ["it ends after", "1.5 s: lost"]
    assert lines_of("", 18) == [""]


def test_long_names_get_more_room_up_to_an_end() -> None:
    assert more_room(["short"], 200.0) == 0.0
    assert more_room(["x" * 40], 200.0) == 7.0 * 40 + 24 - 200
    assert more_room(["x" * 400], 200.0) == MOST_ROOM
    assert moved((words_at(1, 2, "x"),), 0.0) == (words_at(1, 2, "x"),)


def _contrast(one: str, other: str) -> float:
    """Returns the ratio of WCAG 2.2, section 1.4.3."""
    a, b = sorted((_luminance(one), _luminance(other)))
    return (b + 0.05) / (a + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_what_is_cut_keeps_both_of_its_ends() -> None:
    assert cut("abcdef", 20, 5) == "ab…f"
    assert cut("abcdef", 5, 5) == "…"
    assert cut("abc", 20, 5) == "abc"
    regions = [f"payment_backend_{name}" for name in ("europe_west_one", "europe_west_two", "us_east_one")]
    assert len({cut(name, 128) for name in regions}) == 3


def test_titles_stay_within_their_pictures() -> None:
    for across in (100, 400, 1200):
        lines = title_lines("Sweep of an autoscaler that reads a late metric and of others", across)
        assert all(14 + 9.2 * len(line) <= across or " " not in line for line in lines)
    narrow = Drawing("an autoscaler that reads a late metric", "words", 200, 50, ()).standalone()
    assert narrow.count('heading"') == len(title_lines("an autoscaler that reads a late metric", 200)) == 3
