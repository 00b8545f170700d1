"""The scheduler of Volcano: whether pods of a gang start together, what it does; in a ConfigMap or a file of its own.

SOURCE: Volcano documentation, Scheduler: actions and tiers of plugins; without a configuration `gang` is on.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Scalar, Table

KIND = "VolcanoScheduler"
IN_CONFIG_MAP = "tiers:"
VARIANTS = True
SPELLING: dict[str, str] = {}
OFF = "false"
SHARES = "who takes from whom goes by shares of all nodes, which no manifest says"


def recognises(root: Table) -> bool:
    """Returns whether a document is a configuration of the scheduler."""
    tiers = root.get("tiers")
    return isinstance(root.get("actions"), Scalar) and isinstance(tiers, Items) and all(
        isinstance(tier, Table) and "plugins" in tier for tier in tiers
    )  # fmt: skip


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes whether pods of a gang start together."""
    top = manifest.top
    actions = top.scalar("actions")
    words = [word.strip() for word in actions.text.split(",")] if actions is not None else []
    if any(word in ("preempt", "reclaim") for word in words):
        top.remark("actions", SHARES)
    plugins = [plugin for tier in top.tables("tiers") for plugin in tier.tables("plugins")]
    if not any(_starts_gangs(plugin) for plugin in plugins) and actions is not None:
        sketch.queues.one_by_one = actions


def _starts_gangs(plugin: FieldView) -> bool:
    """Returns whether a plugin lets in pods of a gang only together."""
    name, ready = plugin.scalar("name"), plugin.scalar("enableJobReady")
    return name is not None and name.text == "gang" and (ready is None or ready.text != OFF)
