"""Stand-ins of text-to-speech services."""
