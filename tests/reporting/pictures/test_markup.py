"""Trees of markup: every text is escaped when it is rendered, and only texts for people are replaced."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from coherence.base.outside_text import visible
from coherence.reporting.pictures.markup import Verbatim, h


class _Reader(HTMLParser):
    """Reads back the elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_becomes_markup_and_none_is_lost(inside: str, label: str) -> None:
    reader = _Reader()
    reader.feed(h("p", inside, title=label).render())
    reader.close()
    assert reader.tags == [("p", {"title": visible(label)})]
    assert reader.text == visible(inside)


def test_numbers_are_short_and_what_is_none_is_left_out() -> None:
    assert h("circle", cx=1.0, cy=2.345, r=3, id=None).render() == '<circle cx="1" cy="2.35" r="3"></circle>'
    assert h("br").render() == "<br>"
    assert h("text", class_="a", text_anchor="end").render() == '<text class="a" text-anchor="end"></text>'


def test_what_is_shown_replaces_texts_and_never_names_of_classes() -> None:
    element = h("p", "loop", Verbatim("<hr>"), class_="loop", aria_label="loop")
    assert element.render(str.upper) == '<p class="loop" aria-label="LOOP">LOOP<hr></p>'
