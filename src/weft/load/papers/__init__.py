"""Loaders for records of papers and projects: BibTeX, arXiv, OpenAlex, Crossref, findings."""
