"""Packages that only some files need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def needed(name: str, what: str, packages: str) -> ModuleType:
    """Import a module of a package, or say how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise ImportError(f"{what} needs the package {package}, which is missing: pip install {packages}") from None
