"""Your bot: who it is, how it greets, and what it can do.

This file is yours: no update changes it. Services, transports and the pipeline are in bot.py, and
what the bot says word for word is in sentences.py.
"""

# Your own imports go below this line, such as those of tools in files next to this one.

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = """
You are a friendly assistant in a voice conversation. What you write is spoken aloud, so answer in
one to three plain sentences, without lists, emojis or other formatting.
"""

# What the model is asked at the start. With SAY_GREETING = True, it is spoken as it is written.
GREETING = "Greet the person and introduce yourself briefly."
SAY_GREETING = False

# Tools: functions that the model may call. README.md and RECIPES.md have examples.
TOOLS = [
    # your own, one per line
]

# Variables of .env that your tools need. If one is missing at the start, the bot says so and exits.
REQUIRED = [
    # your own, one per line, such as "SHOP_API_KEY"
]
