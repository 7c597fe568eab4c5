"""
Links between pages, from the markup of a document to keys that a store resolves.

    text ─find_links→ Link ─link_key→ relation `page → !target`               (extraction, one document)
    relations, pages ─resolve→ relations `page → page`, aliases of pages      (store, in the transaction of a write)

| module | subject |
| --- | --- |
| `page_keys` | keys of pages, sections, labels and links |
| `addresses` | an address as written to the key of its target |
| `markdown_links`, `markup_links` | links of Markdown and HTML; of Org and AsciiDoc |
| `record_links` | numbers of records in a text, `PEP 484` |
| `page_targets` | labels and names that a loader found, as parts of the page |
| `anchors` | headings and explicit ids that links may point to |
| `anchor_text` | labels of links that are names of their targets |
| `resolution` | the page that a link key leads to |
| `page_reader` | candidates and stated relations of one document |
"""
