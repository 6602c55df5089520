"""What the bot says word for word, in its language. Change what you like.

If you change the language later, the lines that you edited here conflict: translate those.
"""

from vbot import Sentences

# fmt: off
SENTENCES = Sentences(
    # The language of the voice with which a carrier says some of them.
    language="de-DE",
    # Said when a service fails.
    apology="Entschuldigung, ich kann gerade nicht antworten. Bitte versuchen Sie es erneut.",
    # Said to a caller when an answer takes long.
    please_wait="Einen Moment, bitte.",
    # Said before a caller is connected to FALLBACK_NUMBER, because the bot cannot go on.
    connecting="Leider kann ich Ihnen gerade nicht helfen. Ich verbinde Sie mit einem Kollegen.",
    # Said by the carrier if nobody answers a transferred call.
    nobody_answers="Zurzeit kann niemand Ihren Anruf annehmen. Bitte rufen Sie später wieder an.",
    # Said by the carrier if the bot cannot take a call.
    busy="Zurzeit sind alle Leitungen belegt. Bitte rufen Sie später wieder an.",
    # Said twice to a caller who is silent for SILENCE_SECONDS, and then the goodbye.
    still_there="Sind Sie noch da?",
    # After it, the call ends.
    silent_goodbye="Ich kann Sie nicht hören und beende deshalb das Gespräch. Auf Wiederhören.",
    # Said a minute before a session has lasted as long as it may.
    last_minute="Wir haben noch eine Minute.",
    # Said when the bot records.
    recorded="Dieses Gespräch wird aufgezeichnet.",
    # Left on an answering machine that answers a call of the bot.
    voicemail="Guten Tag, dies ist ein automatischer Anruf. Wir versuchen es später erneut.",
    # The greeting of a bot whose language model is too slow to greet.
    hello="Hallo! Worüber möchten Sie sprechen?",
    # Said to a person who asks something while a model is loading.
    still_loading="Das Modell wird noch geladen. Ich antworte, sobald es bereit ist.",
)
