"""Stand-ins of models that hear and speak themselves."""
