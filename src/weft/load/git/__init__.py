"""
Git history: commits (`log`) as documents with a graph (`commit_documents`).

A foreign repository is found without Git (`repository`), and Git reads its objects only (`git_process`).
"""
