"""ConfigMap: what its files are, where one is a configuration of the Prometheus adapter; all others are listed.

SOURCE: Kubernetes API, core/v1 ConfigMap.data; prometheus-adapter documentation, Configuration.
"""

from __future__ import annotations

from coherence.importers._adapter_rules import add_rules, is_rules
from coherence.importers._embedded import embedded
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "ConfigMap"
GROUPS = ("v1",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the rules of an adapter."""
    data = manifest.top.table("data")
    for key, node in data.node.entries.items() if data else ():
        if data is None or not isinstance(node, Scalar) or "seriesQuery" not in node.text:
            continue
        root = embedded(node)
        if root is None or not is_rules(root):
            data.remark(key, "looks like a configuration of the Prometheus adapter, and cannot be read as one")
            continue
        data.use(key)
        add_rules(FieldView(root, data.at(key), manifest), sketch)
