"""Reads a page back and lists what is wrong with it: structure, references, scripts and what screen readers need."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "wbr"}
FORBIDDEN = {"script", "link", "img", "iframe", "object", "embed", "base", "form", "audio", "video", "image", "use"}


class Page(HTMLParser):
    """The elements of a page, its text, and the faults that were seen while reading it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.words: list[str] = []
        self.open_: list[str] = []
        self.count: dict[str, int] = {}
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is never closed" for tag in self.open_]
        self.faults += [f"{id_} stands twice" for id_ in set(self.ids) if self.ids.count(id_) > 1]
        self.faults += [f"nothing is called {link}" for link in self.links if link[1:] not in self.ids]
        self.faults += self._headings()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open_.append(tag)
        if tag in FORBIDDEN:
            self.faults.append(f"<{tag}>")
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.faults += [f"{name} of {tag}" for name in given if name.startswith("on")]
        outside = [
            v for n, v in given.items() if ("//" in v or "url(" in v) and n not in ("xmlns", "content", "aria-label")
        ]
        self.faults += [f"{tag} refers to {value}" for value in outside if not re.fullmatch(r"url\(#[\w-]+\)", value)]
        if tag == "svg" and (given.get("role") != "img" or not given.get("viewbox")):
            self.faults.append("a picture without a role or a view")
        if given.get("tabindex") and not given.get("aria-label"):
            self.faults.append(f"{tag} can be focused and has no name")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open_.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open_ or self.open_.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if self.open_ and self.open_[-1] != "style":
            self.words.append(data)

    def _headings(self) -> list[str]:
        """Returns where a level of headings is left out."""
        pairs = zip([0, *self.headings], self.headings, strict=False)
        return [f"h{after} follows h{before}" for before, after in pairs if after > before + 1]

    @property
    def text(self) -> str:
        """Returns all words of the page."""
        return " ".join(self.words)
