"""Stand-ins of services: one module for each protocol."""
