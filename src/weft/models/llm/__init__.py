"""Language models behind an HTTP endpoint: requests, prompts, replies, prices, budgets."""
