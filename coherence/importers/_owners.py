"""Objects that another one makes, as dumps of a cluster hold them: what made them says what they are."""

from __future__ import annotations

from coherence.base.units import shorten
from coherence.importers._kubernetes import Manifest, word
from coherence.language.document import Items, Table


def is_made_by_another(manifest: Manifest) -> bool:
    """Returns whether an object has an owner, which is listed: it is one of those that the owner stands for."""
    owners = manifest.metadata.get("ownerReferences")
    owner = next((it for it in owners if isinstance(it, Table)), None) if isinstance(owners, Items) else None
    if owner is None:
        return False
    manifest.used.add("spec")
    by = shorten(f"{word(owner, 'kind')} {word(owner, 'name')}")
    manifest.remarks.append((manifest.name.place, f"{manifest.title} (made by {by}, as one of what that stands for)"))
    return True
