"""
Parsing of source code with tree-sitter (the extra `code`).

| module | subject |
| --- | --- |
| `grammar` | the grammars, and the limits of a parse |
| `syntax` | definitions and captures of a source file; the queries are in `queries/` |
| `sections` | chunks of a source file: whole definitions |
| `module_names` | module names of files |
"""
