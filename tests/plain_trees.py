"""Documents without places, as tests write them down."""

from __future__ import annotations

from coherence.language.document import Items, Node, Scalar


def plain(node: Node | None) -> object:
    """Returns the tree of a document as lists, dictionaries and texts."""
    match node:
        case None:
            return None
        case Scalar(text=text):
            return text
        case Items():
            return [plain(child) for child in node]
    return {key: plain(child) for key, child in node.entries.items()}
