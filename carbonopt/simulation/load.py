"""Policies from files of the user's own."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isabstract
from pathlib import Path
from traceback import format_exc
from types import ModuleType
from zlib import crc32

from carbonopt.core.errors import PolicyError, one_of
from carbonopt.simulation.policy import Policy


def is_file_reference(policy: str) -> bool:
    """Return whether a policy's name is a reference to a file, ``my_policy.py:MyPolicy``."""
    return ".py:" in policy or policy.endswith(".py")


def load_policy(reference: str) -> Policy:
    """Return a new object of a policy class in a file.

    Parameters
    ----------
    reference
        ``my_policy.py:MyPolicy``; the name may be left out where the file has one policy.

    Raises
    ------
    PolicyError
        If there is no such file or class, if it is no `Policy`, or if the file or the class raises;
        with its traceback.
    """
    path, _, name = reference.rpartition(":") if ".py:" in reference else (reference, "", "")
    file = Path(path)
    if not file.is_file():
        raise PolicyError(f"{path}: no such file, to load a policy from")
    kind = _policy_class(_imported(file), path, name)
    try:
        return kind()
    except KeyboardInterrupt:
        raise
    except BaseException:  # also SystemExit: a file that ends Python is no policy, and must not end the command
        raise PolicyError(f"{path}: making a {kind.__name__}() failed", details=format_exc()) from None


def _imported(file: Path) -> ModuleType:
    where = file.resolve()
    name = f"carbonopt_policy_{where.stem}_{crc32(str(where).encode()):08x}"
    spec = spec_from_file_location(name, where)
    if spec is None or spec.loader is None:
        raise PolicyError(f"{file}: is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException:
        del sys.modules[name]
        raise PolicyError(f"{file}: cannot be imported", details=format_exc()) from None
    return module


def _policy_class(module: ModuleType, path: str, name: str) -> type[Policy]:
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Policy) and value.__module__ == module.__name__
    ]
    names = tuple(kind.__name__ for kind in own)
    if names:
        there = f"it has {one_of(names)}"
    else:
        there = "it has no subclass of carbonopt.simulation.Policy"
    if not name and len(own) != 1:
        raise PolicyError(f"{path}: name the policy, as in {path}:MyPolicy: {there}")
    kind = getattr(module, name, None) if name else own[0]
    if kind is None:
        raise PolicyError(f"{path}: has no {name!r}: {there}")
    if not (isinstance(kind, type) and issubclass(kind, Policy)) or isabstract(kind):
        raise PolicyError(f"{path}: {name!r} is not a subclass of carbonopt.simulation.Policy: {there}")
    return kind
