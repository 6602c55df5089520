"""The fixtures and hooks that the services' tests use, too."""

pytest_plugins = ["checks"]
