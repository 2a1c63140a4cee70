"""Names in options that may be repeated, and may hold several separated by commas."""

from __future__ import annotations

from collections.abc import Sequence

from carbonopt.core.instance import Instance


def listed(given: Sequence[str]) -> list[str]:
    """Return the names that the texts of an option hold, each once.

    A comma between the options of one policy is its own.

    Examples
    --------
    >>> listed(["no-wait, carbon-time", "green:mu=1,theta=0.5", "no-wait"])
    ['no-wait', 'carbon-time', 'green:mu=1,theta=0.5']
    """
    names: list[str] = []
    for text in given:
        own: list[str] = []
        for part in text.split(","):
            if own and ":" in own[-1] and "=" in part and ":" not in part:
                own[-1] += f",{part.strip()}"
            else:
                own.append(part.strip())
        names += own
    return list(dict.fromkeys(names))


def policies_named(instance: Instance, given: Sequence[str]) -> list[str]:
    """Return the policies that an option names; ``all`` stands for those that the instance has what they need for."""
    from carbonopt.simulate import policies_of

    names = (policies_of(instance) if name == "all" else (name,) for name in listed(given))
    return list(dict.fromkeys(name for some in names for name in some))
