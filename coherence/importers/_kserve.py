"""Names of the parts of an object of KServe, and the container that is a model server.

SOURCE: KServe API, serving.kserve.io.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.language.document import Scalar


def named(manifest: Manifest, part: str) -> Scalar:
    """Returns the name of one part of an object."""
    return respelled(manifest.name, f"{manifest.name.text} {part}".strip())


def model_container(view: FieldView) -> FieldView | None:
    """Returns the container that a model server is: under `model`, or under the name of its framework."""
    frameworks = ("model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml",
                  "lightgbm", "paddle")  # fmt: skip
    return next((container for key in frameworks if (container := view.table(key)) is not None), None)
