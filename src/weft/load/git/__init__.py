"""Git history: commits read with `git log` (`log`), and their documents with a graph (`commit_documents`)."""
