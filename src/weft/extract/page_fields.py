"""
Front-matter fields that describe the page instead of its subject.

| field | describes |
| --- | --- |
| `status`, `owner`, `depends_on`, `capital` | the subject |
| `reviewers`, `weight`, `layout`, `sidebar_label`, `outline` | the page |
| `author` beside `date` or `layout` | the page: `Pandas` is not written by the author of the note |
| `author` alone, or beside `isbn` or `type: book` | the subject |
"""

from __future__ import annotations

import re
from collections.abc import Collection

from weft.extract.lexicon import word_set

_PAGE_FIELDS = word_set(
    """
    title name id uid uuid slug key tags tag keywords keyword categories category topics aliases alias also_known_as
    aka links link url uri permalink canonical date dates created created_at updated updated_at modified lastmod
    last_modified published publish_date pubdate time draft publish publishable hidden private layout template theme
    css cssclass cssclasses class icon image images cover banner thumbnail header footer toc math comments comment
    description summary excerpt abstract subtitle note notes todo weight order nav_order position sidebar
    parent grand_parent has_children redirect redirect_from redirect_to head outputs output format encoding charset
    lang language locale search robots noindex kernelspec jupytext bibliography csl generator example warning tip
    info caution important reviewers reviewer approvers content_type contenttype page_type outline aside navbar nav
    prev next editlink lasteditedby body_class full_link short_description feature hero features actions tagline
    cascade linktitle link_title menu menus headless no_list simple_list card carousel resources build params section
    sections series_order jekyll collection pagination paginate featured pinned sticky stub reading_time readtime
    word_count min_version min-kubernetes-server-version version_added api_metadata auto_generated contributors editor
    editors translator translators source_url edit_url github repo_url og twitter meta metadata seo schema scripts
    styles extra extra_css js hide vim banner_x banner_y up down same kanban-plugin dg-publish
    """
)
_PAGE_PREFIXES = (
    "sidebar_", "nav_", "toc_", "hide_", "show_", "page_", "meta_", "og_", "twitter_", "seo_", "skip_", "disable_",
    "enable_", "exclude_", "include_", "custom_", "pagination_", "redirect_", "menu_", "card_", "header_", "footer_",
    "layout_", "template_", "css_", "image_", "edit_", "last_", "date_", "next_", "prev_", "no_", "hugo_", "jekyll_",
    "docusaurus_", "mkdocs_", "sphinx_", "math_", "excalidraw_", "kanban_", "dg_", "obsidian_",
)  # fmt: skip
_PUBLISHING_FIELDS = word_set(
    """
    date created created_at updated updated_at modified lastmod last_modified published publish_date pubdate draft
    publish layout template theme slug permalink weight toc sidebar outline reviewers content_type
    """
)
"""Fields of a page that is published; the author beside them wrote the page."""
AUTHOR_FIELDS = frozenset({"author", "authors"})
_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])")


def is_page_field(key: str, *, others: Collection[str] = ()) -> bool:
    """Return True if a field describes the page. `others` are the names of the other fields of the page."""
    field = _snake_case(key)
    if field in AUTHOR_FIELDS:
        rest = {_snake_case(other) for other in others} - AUTHOR_FIELDS
        return not _PUBLISHING_FIELDS.isdisjoint(rest) and all(is_page_field(other) for other in rest)
    return field in _PAGE_FIELDS or field.startswith(_PAGE_PREFIXES)


def _snake_case(key: str) -> str:
    return re.sub(r"[\s-]+", "_", _CAMEL.sub("_", key[:60].strip())).lower()
