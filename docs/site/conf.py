"""Configures Sphinx for the site that `make.py` writes: MyST, furo, no network."""

project = "coherence"
author = "The coherence authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "coherence"
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # designs and sessions with a mistake in them, shown as such
