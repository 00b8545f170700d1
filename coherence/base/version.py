"""The version of the tool; pyproject.toml reads it from here."""

VERSION = "0.1.0"
