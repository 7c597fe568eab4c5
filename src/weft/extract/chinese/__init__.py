"""Names, definitions and relations in Chinese text."""
