"""Application of Argo CD: who writes the manifests of its namespace, and whether what others change is undone.

With `automated.selfHeal` a difference from Git is undone at once; without it the manifests are written when they
change.  `ignoreDifferences` on `/spec/replicas` leaves the number alone while nothing else differs, and with
`RespectIgnoreDifferences=true` a sync does not write it either.

SOURCE: Argo CD documentation, Automated Sync Policy; Diff Customization; Sync Options.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._sketch import Sketch, Sync

KIND = "Application"
GROUPS = ("argoproj.io",)
SPELLING = {"mode": "selfHeal"}
SCALED = ("*", "Deployment", "StatefulSet")
REPLICAS = ("/spec/replicas", ".spec.replicas")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes what the application does to the manifests of its namespace."""
    spec = manifest.spec
    destination, policy = spec.table("destination"), spec.table("syncPolicy")
    namespace = destination.scalar("namespace") if destination else None
    automated = policy.table("automated") if policy else None
    heals = automated.scalar("selfHeal") if automated else None
    enabled = automated.scalar("enabled") if automated else None
    if enabled is not None and enabled.text == "false":
        heals = None
    options = [option.text for option in policy.scalars("syncOptions")] if policy else []
    ignores = any(_ignores_replicas(view) for view in spec.tables("ignoreDifferences"))
    if automated is not None:
        automated.use("prune", "allowEmpty")
    sketch.syncs.append(
        Sync(
            namespace.text if namespace else "",
            heals if heals is not None and heals.text == "true" and not ignores else None,
            leaves_replicas=ignores and "RespectIgnoreDifferences=true" in options,
        )
    )


def _ignores_replicas(view: FieldView) -> bool:
    """Returns whether differences of the number of replicas of workloads are ignored."""
    kind = view.scalar("kind")
    view.use("group", "name", "namespace", "managedFieldsManagers")
    paths = [*view.scalars("jsonPointers"), *view.scalars("jqPathExpressions")]
    return any(path.text in REPLICAS for path in paths) and (kind is None or kind.text in SCALED)
