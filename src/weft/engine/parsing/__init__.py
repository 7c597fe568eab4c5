"""
Parsing in child processes with limits on CPU time, memory and output.

    server or worker                         parser process
    ParserPool ─lease→ ParserProcess ─JSON─→ parser_main: load ─ split ─ count terms ─ extract
        Draft or Plan ←───────────────JSON──

A document that exceeds a limit, or that ends its process, is skipped with a reason. The next one gets another process.
"""
