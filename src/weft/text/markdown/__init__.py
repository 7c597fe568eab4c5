"""
The only reader of Markdown: one parse of a page into blocks, whose text is read into spans.

    text ──blocks.py──→ Page of Blocks ──inline.py──→ text and spans of a block
      └────plain.py───→ text without the markup that a flavour adds
"""
