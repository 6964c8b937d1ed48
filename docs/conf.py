"""Sphinx configuration: `make docs`."""

from importlib.metadata import version as installed_version

project = "uncertain"
author = "the uncertain developers"
project_copyright = "the uncertain developers"
version = release = installed_version("uncertain-learn")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["dollarmath", "amsmath"]
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more than the annotations
autosummary_generate = False
numpydoc_show_class_members = False
# scikit-learn's own docstrings (inherited methods) link into its own documentation.
suppress_warnings = ["myst.xref_missing"]

html_theme = "pydata_sphinx_theme"
html_title = f"uncertain {release}"
html_theme_options = {"show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}
