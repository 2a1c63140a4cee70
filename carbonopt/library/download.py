"""Download public files, each checked by its hash: pooch's cache, on the user's command alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from carbonopt.core.errors import CarbonoptError, UnsupportedError, one_line
from carbonopt.library.recipes import PublicFile


class DownloadError(CarbonoptError):
    """A public file cannot be had, or is another one than the recipe's."""


def download_into(folder: Path | None = None) -> Callable[[PublicFile], Path]:
    """Return a function that downloads a public file once.

    Parameters
    ----------
    folder
        Cache; None for the user's own.

    Raises
    ------
    UnsupportedError
        If pooch is not installed.
    """
    try:
        import pooch
    except ImportError:
        raise UnsupportedError("to fetch public files needs pooch: pip install 'carbonopt[fetch]'") from None
    cache = Path(pooch.os_cache("carbonopt")) if folder is None else folder

    def download(part: PublicFile) -> Path:
        try:
            found = pooch.retrieve(part.url, known_hash=f"sha256:{part.sha256}", path=cache, progressbar=False)
        except (OSError, ValueError) as error:  # no answer, or another file than the recipe's
            raise DownloadError(f"{part.url}: {one_line(str(error))}") from None
        return Path(found)

    return download
