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
    sketch.syncs.append(
        Sync(
            namespace.text if namespace else "",
            heals if heals is not None and heals.text == "true" else None,
            ignored=tuple(filter(None, map(_ignored, spec.tables("ignoreDifferences")))),
            respects="RespectIgnoreDifferences=true" in options,
        )
    )


def _ignored(view: FieldView) -> tuple[str, str] | None:
    """Returns kind and name of the workloads whose number of replicas is ignored (empty: any); None where it is not."""
    kind, name = view.scalar("kind"), view.scalar("name")
    paths = [*view.scalars("jsonPointers"), *view.scalars("jqPathExpressions")]
    if not any(path.text in REPLICAS for path in paths):
        return None
    return ("" if kind is None or kind.text == "*" else kind.text, name.text if name else "")
