"""A name with a leading underscore belongs to its module: what another one needs is public."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from conftest import ROOT

DOCUMENTED = ("os._exit",)
"""Python documents it under this name; the only one that carbonopt has a use for."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is a module and no package
        return False


def private_uses(text: str) -> Iterator[str]:
    """Yield each private name that a module imports, or takes from a module that it imported, as ``module.name``."""
    modules: dict[str, str] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                if is_private(name.name):
                    yield whole
                elif node.module.partition(".")[0] == "carbonopt" and is_module(whole):
                    modules[name.asname or name.name] = whole
        elif isinstance(node, ast.Import):
            modules |= {name.asname or name.name: name.name for name in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = ast.unparse(node.value)
            if owner in modules and f"{modules[owner]}.{node.attr}" not in DOCUMENTED:
                yield f"{modules[owner]}.{node.attr}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from carbonopt.core.errors import _hidden", ["carbonopt.core.errors._hidden"]),
        ("from carbonopt.core import errors\nerrors._hidden()", ["carbonopt.core.errors._hidden"]),
        ("from carbonopt.core import errors as e\ne._hidden", ["carbonopt.core.errors._hidden"]),
        ("import carbonopt.core.errors\ncarbonopt.core.errors._hidden", ["carbonopt.core.errors._hidden"]),
        ("import numpy as np\nnp._core", ["numpy._core"]),
        ("from carbonopt.core.errors import Fault\nFault._mine, Fault.__doc__\nself._own", []),
    ],
)
def test_every_way_is_seen(text: str, found: list[str]) -> None:
    assert list(private_uses(text)) == found


def test_no_module_uses_a_private_name_of_another() -> None:
    found = {
        str(path.relative_to(ROOT)): uses
        for path in sorted((ROOT / "carbonopt").rglob("*.py"))
        if (uses := list(private_uses(path.read_text())))
    }
    assert found == {}
