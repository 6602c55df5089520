"""Stand-ins of language models."""
