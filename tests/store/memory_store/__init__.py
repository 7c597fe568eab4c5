"""Store without a database: for tests, and the oracle of the store contract."""
