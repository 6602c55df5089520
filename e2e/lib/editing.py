"""Edits bot.py as a person does who follows a document."""

import re


def blocks(text: str) -> list[str]:
    """The Python code of a document, each without the comment that says where it belongs."""
    return re.findall(r"(?ms)^```python\n(?:# In \w+\.\n)?(.*?)^```$", text)


def replaced(source: str, *changes: tuple[str, str]) -> str:
    """The code with each text, which is there once, replaced by the other."""
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} is in bot.py {source.count(old)} times"
        source = source.replace(old, new)
    return source


def with_imports(source: str, imports: str) -> str:
    """The code with more imports, above the first of the framework."""
    at = source.index("\nfrom pipecat.") + 1
    return source[:at] + imports + "\n" + source[at:]


def above_tools(source: str, code: str, *names: str) -> str:
    """The code with a function above TOOLS, and these names in that list."""
    listed = "".join(f"    {name},\n" for name in names)
    before, start, after = source.partition("\nTOOLS = [\n")
    assert start
    return f"{before.rstrip()}\n\n\n{code.strip()}\n\n{start}{listed}{after}"
