"""A name with a leading underscore belongs to its module: what another one needs is public."""

from __future__ import annotations

import ast

from conftest import ROOT


def test_no_module_imports_a_private_name() -> None:
    private = []
    for path in sorted((ROOT / "carbonopt").rglob("*.py")):
        imports = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom))
        names = ((node.module, name.name) for node in imports for name in node.names)
        private += [(str(path.relative_to(ROOT)), *name) for name in names if name[1].startswith("_")]
    assert private == []
