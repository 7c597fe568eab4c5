"""Loaders for records of papers: BibTeX, arXiv, OpenAlex, Crossref, findings."""
