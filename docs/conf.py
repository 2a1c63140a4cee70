"""Sphinx configuration: `sphinx-build -W --keep-going -b html docs docs/_build/html`.

The build needs no network. Code cells of the .md pages run against this checkout, and an error in
one of them fails the build.
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MADE = DOCS / "_build"
sys.path.insert(0, str(ROOT))

import carbonopt  # noqa: E402  (from this checkout, installed or not)

COMMAND = f"""#!{sys.executable}
from carbonopt.cli.main import main

main()
"""

# IPython's own %%bash cuts output into pieces of 100 bytes, colours it, and ignores all failures but the last.
STARTUP = f"""
import os
import subprocess

from IPython.core.magic import register_cell_magic

os.symlink({str(ROOT / "instances")!r}, "instances")


@register_cell_magic
def bash(line, cell):
    kept = {{name: value for name, value in os.environ.items() if not name.endswith(("FORCE_COLOR", "COLOR_FORCE"))}}
    done = subprocess.run(
        ["bash", "-ec", cell], env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    print(done.stdout, end="")
    done.check_returncode()


del register_cell_magic
"""


def prepare_kernels() -> None:
    """Give the kernels of the code cells this checkout, a `carbonopt` command, and a profile of their own."""
    profile = MADE / "ipython" / "profile_default"
    files = {
        MADE / "bin" / "carbonopt": COMMAND,
        profile / "startup" / "cells.py": STARTUP,
        profile / "ipython_kernel_config.py": "get_config().IPKernelApp.log_level = 'ERROR'\n",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (MADE / "bin" / "carbonopt").chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([str(MADE / "bin"), os.environ.get("PATH", "")])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    os.environ["IPYTHONDIR"] = str(MADE / "ipython")
    os.environ["CARBONOPT_DOCS"] = str(DOCS)  # of the module that draws the first page
    os.environ["TERMINAL_WIDTH"] = "100"  # of the help texts
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a debugger that nobody uses would warn


prepare_kernels()

project = "carbonopt"
author = "The carbonopt authors"
copyright = "The carbonopt authors, Apache-2.0"
version = release = carbonopt.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb", "sphinx-mathjax-offline"]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
default_role = "py:obj"  # single backticks in docstrings link to what they name

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {"release": release}
myst_heading_anchors = 3

nb_execution_mode = "auto"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_render_markdown_format = "myst"  # tables that a cell makes

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"carbonopt {release}"
html_logo = html_favicon = "_static/logo.svg"
html_css_files = ["carbonopt.css"]
html_static_path = ["_static"]
