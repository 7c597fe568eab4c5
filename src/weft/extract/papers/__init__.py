"""Paper ids, paper titles and citation questions."""
