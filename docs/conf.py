"""Settings of Sphinx for the documentation; `scripts/docs` builds it."""

from __future__ import annotations

import re

import tagalong

project = "tagalong"
author = "the tagalong developers"
copyright = author
version = release = tagalong.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"tagalong {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None

# Docstrings are plain text: `name` is code, an indented block after a blank line is a program.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True


def _mark_programs(
    _app: object, _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Puts `::` in front of indented blocks, so that they become programs, and means each `*`, `_` and `|` as such."""
    marked: list[str] = []
    inside = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside and marked and not marked[-1].strip():
            marked += ["::", ""]
        inside = indented or (inside and not line.strip())
        marked.append(line if indented else _plain(line))
    lines[:] = marked


def _plain(line: str) -> str:
    """A line of prose without markup but `code`."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"[*|]|_\b", r"\\\g<0>", part) for part in parts)


def _plain_signature(
    _app: object,
    _what: str,
    _name: str,
    _thing: object,
    _options: object,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None] | None:
    """Names of types without the private modules that they lie in."""
    private = re.compile(r"\b(?:tagalong\.)?_(?:core|face|compare|specialize)\.(?:guards_)?")
    shown = tuple(private.sub("", text) if text else text for text in (signature, returns))
    return shown[0], shown[1]


def setup(app: object) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", _mark_programs)  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", _plain_signature)  # type: ignore[attr-defined]
