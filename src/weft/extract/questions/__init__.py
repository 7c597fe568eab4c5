"""Questions about relations: words that suggest relation types, and whole questions in English and Chinese."""
