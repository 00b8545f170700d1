"""LangGraph: the configuration of an application (`langgraph.json`), which names its graphs and no limit of a run.

How many steps a run may take (`recursion_limit`) stands in the code that starts it, and in an overlay:
`limits: {steps: {uses: step_limit_1x, counts: <graph>.steps}}`.

SOURCE: LangGraph documentation, LangGraph CLI, Configuration file.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

KIND = "LangGraph"
VARIANTS = True
LOCAL_NAMES = True
WIRING = (
    "$schema", "python_version", "node_version", "dependencies", "env", "dockerfile_lines", "auth", "image_distro",
    "pip_config_file", "pip_installer", "base_image", "api_version", "ui", "ui_config", "keep_pkg_tools",
)  # fmt: skip
NOT_MODELLED = ("http", "store", "checkpointer", "encryption", "webhooks")


def recognises(root: Table) -> bool:
    """Returns whether a document configures an application: its graphs are places in code."""
    graphs = root.get("graphs")
    places = list(graphs.entries.values()) if isinstance(graphs, Table) else []
    is_code = all(isinstance(place, (Scalar, Table)) for place in places)
    return bool(places) and is_code and ("dependencies" in root or "env" in root)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds each graph as a thing that others may say more of."""
    manifest.top.pass_over(*WIRING)
    for key in NOT_MODELLED:
        manifest.top.remark(key, "when what was kept is deleted, and who may ask, are not modelled")
    graphs = manifest.top.table("graphs")
    for name in graphs.node.entries if graphs is not None else ():
        if graphs is not None:
            graphs.use(name)
            sketch.mention(sketch.names.thing(name, "", "graph"), graphs.place(name), f"graph {name}")
