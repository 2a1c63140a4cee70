"""Look at every page of the built site: `python docs/look.py docs/_build/html [FOLDER FOR SCREENSHOTS]`.

Links and anchors are followed in the files. Where there are chromium, chromedriver and the package selenium, each page
is also opened without a network, 1,300 and 400 pixels wide: nothing may be cut, every picture has a text, and the
console stays empty. What is wrong is printed, one line each, and the exit code is 1.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

WIDTHS = (1300, 400)
"""Of the window [pixels]."""
TALLEST = 8000
"""Of a screenshot [pixels]."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
)
FORMULAS = """
const done = arguments[0];
(window.MathJax && MathJax.startup ? MathJax.startup.promise : Promise.resolve()).then(() => done(1), () => done(0));
"""
MEASURE = """
const found = [], width = document.documentElement.clientWidth;
const flow = e => getComputedStyle(e).overflowX;
const told = e => e.tagName.toLowerCase() + ' ' + (e.textContent || '').trim().slice(0, 50);
if (document.documentElement.scrollWidth > width) found.push('is wider than the window');
const parents = e => e === document.body || !e ? [] : [e, ...parents(e.parentElement)];
for (const e of (document.querySelector('article') || document.body).querySelectorAll('*')) {
  if (e.closest('mjx-assistive-mml') || e.closest('svg')) continue;
  const inner = e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
  if (inner && ['hidden', 'clip'].includes(flow(e))) found.push('cuts ' + told(e));
  const box = e.getBoundingClientRect();
  const scrolls = parents(e.parentElement).some(p => ['auto', 'scroll', 'hidden'].includes(flow(p)));
  if (box.width > 0 && box.right > width + 1 && !scrolls) found.push('lets stand out ' + told(e));
}
for (const picture of document.querySelectorAll('article img')) {
  if (!(picture.complete && picture.naturalWidth)) found.push('has no picture ' + picture.src);
  if (!picture.alt) found.push('has a picture without text ' + picture.src);
}
return found.slice(0, 10);
"""
"""Tells what of a page cannot be seen or reached by scrolling."""


def pages(site: Path) -> list[Path]:
    """Return the pages that people wrote."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def wrong_links(site: Path) -> Iterator[str]:
    """Yield each link within the site that leads nowhere."""
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in pages(site)}
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    for path, text in texts.items():
        for link in sorted(set(re.findall(r'(?:href|src)="([^"]*)"', text))):
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if parts.scheme or parts.netloc:
                continue
            if not target.exists():
                yield f"{path.name}: {link}: there is no such file"
            elif anchor and target in anchors and anchor not in anchors[target]:
                yield f"{path.name}: {link}: there is no such place in the page"


def browser() -> Any:
    """Return a browser without a network, or a sentence that says why there is none."""
    try:
        from selenium import webdriver  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return "the package selenium is not installed"
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        return "there is no chromium, or no chromedriver"
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def wrong_looks(site: Path, window: Any, shots: Path | None) -> Iterator[str]:
    """Yield what a reader of each page, at each width, cannot see; take pictures where a folder is given."""
    for path in pages(site):
        name = str(path.relative_to(site).with_suffix(""))
        for width in WIDTHS:
            _resize(window, width, 1000)
            window.get(path.resolve().as_uri())
            window.execute_async_script(FORMULAS)
            yield from (f"{name} at {width}: {words}" for words in window.execute_script(MEASURE))
            yield from (f"{name} at {width}: console: {entry['message']}" for entry in window.get_log("browser"))
            if shots is not None:
                height = window.execute_script("return document.documentElement.scrollHeight")
                _resize(window, width, min(height, TALLEST))
                window.save_screenshot(str(shots / f"{name.replace('/', '-')}-{width}.png"))


def _resize(window: Any, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def main(site: Path, shots: Path | None = None) -> int:
    """Print what is wrong, and return the exit code."""
    wrong = list(wrong_links(site))
    window = browser()
    if isinstance(window, str):
        print(f"links only: {window}")
    else:
        if shots is not None:
            shots.mkdir(parents=True, exist_ok=True)
        try:
            wrong += wrong_looks(site, window, shots)
        finally:
            window.quit()
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(pages(site))} pages, {len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:3])))
