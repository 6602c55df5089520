"""What the bot says word for word, in its language. Change what you like.

If you change the language later, the lines that you edited here conflict: translate those.
"""

from vbot import Sentences

# fmt: off
SENTENCES = Sentences(
    # The language of the voice with which a carrier says some of them.
    language="en-US",
    # Said when a service fails.
    apology="Sorry, I cannot answer right now. Please try again.",
    # Said to a caller when an answer takes long.
    please_wait="One moment, please.",
    # Said before a caller is connected to FALLBACK_NUMBER, because the bot cannot go on.
    connecting="Sorry, I cannot help you right now. I am connecting you to a colleague.",
    # Said by the carrier if nobody answers a transferred call.
    nobody_answers="Nobody can take your call right now. Please call again later.",
    # Said by the carrier if the bot cannot take a call.
    busy="All lines are busy right now. Please call again later.",
    # Said twice to a caller who is silent for SILENCE_SECONDS, and then the goodbye.
    still_there="Are you still there?",
    # After it, the call ends.
    silent_goodbye="I cannot hear you, so I am ending the call. Goodbye.",
    # Said a minute before a session has lasted as long as it may.
    last_minute="We have one minute left.",
    # Said when the bot records.
    recorded="This call is being recorded.",
    # Left on an answering machine that answers a call of the bot.
    voicemail="Hello, this is an automated call. We will try again later.",
    # The greeting of a bot whose language model is too slow to greet.
    hello="Hello! What would you like to talk about?",
    # Said to a person who asks something while a model is loading.
    still_loading="The model is still loading. I will answer as soon as it is there.",
)
