"""
Rule-based extraction of names, relations and facts from text, without a model.

| module | subject |
| --- | --- |
| `rules` | `RuleExtractor`, the entry point: document and chunks to candidates and stated relations |
| `sentences`, `phrases`, `subjects` | sentences, the names in a sentence, its subject |
| `definitions`, `statements` | types and aliases, relations |
| `attributes`, `properties` | relations of fields, facts of notes |
| `names`, `mentions` | keys of names, mentions of known names |
| `name_variants`, `typos` | possible spellings of one name |
| `relation_types` | the vocabulary of relations that documents and questions share |
| `questions/`, `papers/` | relations and citations that a question asks for |
| `links/` | links between documents, pages and sections |
| `chinese/` | the same for Chinese |
| `code/` | entities and relations of parsed source code |
| `candidates`, `lexicon` | the collector of one chunk, word lists |
"""
