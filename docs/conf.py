"""Sphinx configuration: `make docs`.

The gallery (docs/gallery) is executed once, and again only where a program changed. What is written goes
below docs/_build, but for the pages that are made from programs and docstrings (ignored by git).
"""

from __future__ import annotations

import os
import socket
import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

project = "uncertain"
author = "the uncertain developers"
project_copyright = "the uncertain developers"
version = release = installed_version("uncertain-learn")

sys.path.insert(0, str(Path(__file__).parent))  # for the extensions beside this

extensions = [
    "commands",
    "docstrings",
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["attrs_inline", "attrs_block", "colon_fence", "dollarmath", "amsmath"]
myst_heading_anchors = 4
smartquotes = False  # "auto" is a value
default_role = "py:obj"  # `GaussianArray` in a docstring is a link

exclude_patterns = [
    "_build",
    "_templates",
    "pictures",
    "guide",  # programs of the Rust crate, which its documentation tests run
    "gallery/*/GALLERY_HEADER.rst",
    "gallery/GALLERY_HEADER.rst",
]
templates_path = ["_templates"]

# -- reference: a page for each public object, from its docstring

autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings say more than the annotations
autosummary_generate = True
numpydoc_show_class_members = False
suppress_warnings = [
    "myst.xref_missing",  # scikit-learn's own docstrings (inherited methods) link into its own documentation
    "config.cache",  # the gallery's configuration holds functions
]


def skip_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Members that scikit-learn or Python wrote are documented there."""
    module = getattr(getattr(thing, "fget", thing), "__module__", None) or ""
    foreign = not module.startswith("uncertain") and callable(thing)
    return True if foreign or (name.startswith("set_") and name.endswith("_request")) else None


# -- other projects: linked where their inventories can be fetched

INVENTORIES = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "polars": ("https://docs.pola.rs/api/python/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
}


def reachable(host: str = "docs.python.org") -> bool:
    """Is there a network? Without it the links are left out, not the build broken."""
    try:
        socket.create_connection((host, 443), timeout=3).close()
    except OSError:
        return False
    return True


intersphinx_mapping = INVENTORIES if reachable() else {}

# -- gallery

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_pages",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"__init__\.py",
    "backreferences_dir": "gallery_pages/used_in",
    "doc_module": ("uncertain",),
    "prefer_full_module": {r"uncertain\."},
    "reference_url": {"uncertain": None},
    "show_memory": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": True,
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "plot_gallery": "True",
    "capture_repr": ("_repr_html_", "__repr__"),
    "default_thumb_file": None,
}

# -- the site

html_theme = "pydata_sphinx_theme"
html_title = f"uncertain {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static/scorer.js")
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "navbar_center": [],  # all pages are in the side bar, in five groups
    "logo": {"text": "uncertain", "image_light": "_static/favicon.svg", "image_dark": "_static/favicon.svg"},
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["all-pages.html"]}


def setup(app: Any) -> None:
    """Handlers of events."""
    app.connect("autodoc-skip-member", skip_foreign)
