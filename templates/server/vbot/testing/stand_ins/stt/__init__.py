"""Stand-ins of speech-to-text services."""
