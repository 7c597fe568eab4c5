"""
reStructuredText to Markdown with source lines.

    text ─tree.py→ docutils tree ─writer.py→ Markdown, lines, links     document.py: fields, title
                                   └─inline.py→ text of a paragraph, its links
"""
