"""People who connect to the bot: one module for each transport that tests can use."""
