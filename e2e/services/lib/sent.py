"""The texts in what a service is sent: in an address, headers, JSON, SSML, the arguments of a call.

Each by itself, as a whole: an `en` inside of another word is none. For ears.py and voices.py.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

LONGEST = 40  # characters: what is longer is speech, or what is to be spoken


def values(sent: Any) -> Iterator[str]:
    match sent:
        case str() if "://" in sent:
            yield from values([value for _, value in parse_qsl(urlsplit(sent).query)])
        case str() if sent.startswith(("{", "[")):
            yield from values(json.loads(sent))
        case str() if sent.startswith("<speak"):
            for element in ElementTree.fromstring(sent).iter():
                yield from values([element.text, element.attrib])
        case str() if len(sent) <= LONGEST:
            yield str(sent)  # without the class of an enumeration
        case bytes():
            # As protobuf has texts: a length, and as many characters.
            for at, length in enumerate(sent):
                text = sent[at + 1 :][:length].decode("latin-1")
                if len(text) == length <= LONGEST and text.isprintable():
                    yield text
        case Mapping():
            yield from values(list(sent.values()))
        case list() | tuple() | set():
            for one in sent:
                yield from values(one)
