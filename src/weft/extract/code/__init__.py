"""
Extraction of entities and relations from parsed source code.

| module | subject |
| --- | --- |
| `reader` | the entry point: document and chunks to candidates and stated relations |
| `code_keys` | keys of code entities, and their names in a question |
| `imports` | imports of a file, by language |
| `scopes` | resolution of the names in a scope |
| `code_relations` | calls, base classes, overridden methods, tests |
"""
