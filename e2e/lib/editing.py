"""Edits agent.py and bot.py as a person would who follows a document."""

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DOCUMENTS = ("AGENTS.md", "README.md", "RECIPES.md", "DEPLOY.md")
DOCUMENTS += ("client/README.md", "deploy/README.md")
TITLE = re.compile(r"#+ (?P<heading>.+)|(?:- )?\*\*(?P<bold>[^*]+)\*\*")
BLOCK = re.compile(r"(?ms)^( *)```(\w*)\n(.*?)^\1```$")
PLACE = re.compile(r"\A# In \w+\.\n")


def blocks(text: str) -> list[str]:
    """The Python code of a document, each without the comment that says where it belongs."""
    return [PLACE.sub("", code) for _, kind, code in BLOCK.findall(text) if kind == "python"]


def parted(block: str) -> tuple[str, str]:
    """The imports at the head of a block, and the rest."""
    at = re.search(r"(?m)^(@|def |async def |class | {4,}\S|[A-Z_]+ = )", block)
    assert at, f"nothing but imports: {block}"
    return block[: at.start()], block[at.start() :]


@contextlib.contextmanager
def silence_ends_after(server: Path, seconds: float) -> Iterator[None]:
    """Let the framework end sessions in which nobody speaks for so long: 5 minutes by default."""
    code = server / "bot.py"
    original = code.read_text()
    limit = "idle_timeout_secs=runner_args.pipeline_idle_timeout_secs"
    assert limit in original
    code.write_text(original.replace(limit, f"idle_timeout_secs={seconds}"))
    try:
        yield
    finally:
        code.write_text(original)


@dataclass
class Section:
    """The text under a title, which is a heading, or bold text at the beginning of a paragraph."""

    text: str = ""
    blocks: list[str] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)  # between backquotes, each in one line

    def code(self, start: str) -> str:
        """The only code within the text that begins so."""
        [found] = {span for span in self.spans if span.startswith(start)}
        return found

    def imports(self, *names: str) -> str:
        """Imports of these names, from the modules that the text says they are in."""
        words = " ".join(self.text.split())
        said = re.findall(r"`(\w+)` (?:is in|from) `([\w.]+)`", words)
        modules = dict(said)
        return "".join(f"from {modules[name]} import {name}\n" for name in names)


def sections(text: str) -> dict[str, Section]:
    """The sections of a document that are not empty, by title. Equal titles are merged."""
    found: dict[str, Section] = {}
    title, rest = "", text
    while rest:
        if block := BLOCK.match(rest):
            found.setdefault(title, Section()).text += block[0]
            rest = rest[block.end() :]
            continue
        line, end, rest = rest.partition("\n")
        if named := TITLE.match(line):
            title = (named["heading"] or named["bold"]).rstrip(".")
        found.setdefault(title, Section()).text += line + end
    for section in found.values():
        section.blocks = blocks(section.text)
        prose = BLOCK.sub("", section.text)
        section.spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    return found


def documents(folder: Path) -> dict[tuple[str, str], Section]:
    """The sections of a bot's documents, by document and title."""
    return {
        (name, title): section
        for name in DOCUMENTS
        if (folder / name).exists()
        for title, section in sections((folder / name).read_text()).items()
    }


def replaced(source: str, *changes: tuple[str, str]) -> str:
    """Replace each text, which must occur exactly once, with the other."""
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
        source = source.replace(old, new)
    return source


def with_imports(source: str, imports: str) -> str:
    """The code with more imports, where its owner's are, and without those that are there."""
    there = set(map(ast.unparse, names_imported(source)))
    wanted = [ast.unparse(one) for one in names_imported(imports)]
    lines = f"{imports.strip()}\n"
    if not there.isdisjoint(wanted):
        lines = "".join(f"{line}\n" for line in wanted if line not in there)
    if not lines.strip():
        return source
    before, place, after = source.rpartition("# isort: split\n")
    if not place:
        return with_own_import(source, imports)
    return f"{before}{place}{lines}{after}"


OWN_IMPORTS = re.compile(r"(?m)^# Your own imports go below this line.*\n")


def with_own_import(source: str, lines: str) -> str:
    """agent.py with these imports below the line that says so."""
    [place] = OWN_IMPORTS.findall(source)
    return replaced(source, (place, f"{place}{lines.strip()}\n"))


def listed(source: str, *names: str) -> str:
    """agent.py with these names at the head of TOOLS."""
    lines = "".join(f"    {name},\n" for name in names)
    return replaced(source, ("\nTOOLS = [\n", f"\nTOOLS = [\n{lines}"))


def names_imported(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements at the top of a module, one for each name."""
    for node in ast.parse(source).body:
        match node:
            case ast.ImportFrom(module=module, names=names, level=level):
                yield from (ast.ImportFrom(module, [name], level) for name in names)
            case ast.Import(names=names):
                yield from (ast.Import([name]) for name in names)


def above(source: str, line: str, code: str) -> str:
    """Insert code above a line."""
    return replaced(source, (f"\n{line}", f"\n{code.rstrip()}\n\n{line}"))


def above_tools(source: str, code: str, *names: str) -> str:
    """Insert a function above the comment of TOOLS, and add these names to that list."""
    before, start, after = source.partition("\n# Tools: ")
    assert start
    return listed(f"{before.rstrip()}\n\n\n{code.strip()}\n\n{start}{after}", *names)


def required(source: str, lines: str) -> str:
    """Add these lines to REQUIRED of agent.py."""
    return replaced(source, ("\nREQUIRED = [\n", f"\nREQUIRED = [\n{lines}"))


def statement(source: str, name: str) -> ast.Assign:
    """The first assignment to a variable."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise AssertionError(f"nothing is called {name}")


def text_of(source: str, node: ast.AST) -> str:
    found = ast.get_source_segment(source, node)
    assert found
    return found


def with_arguments(source: str, name: str, code: str) -> str:
    """Add the arguments of a call to the same call in the value that is assigned to the variable.

    If that call is missing, it is added as the settings of a service.
    """
    call = ast.parse(code, mode="eval").body
    was = statement(source, name)
    changed = ast.parse(text_of(source, was)).body[0]
    assert isinstance(call, ast.Call) and isinstance(changed, ast.Assign)
    calls = [node for node in ast.walk(changed) if isinstance(node, ast.Call)]
    function = ast.unparse(call.func)
    here = [c for c in calls if ast.unparse(c.func).rpartition(".")[2] == function]
    if here:
        [there] = here
        names = {keyword.arg for keyword in call.keywords}
        there.keywords = [k for k in there.keywords if k.arg not in names] + call.keywords
    else:
        assert function == "Settings", f"{name} has no {function}"
        service = ast.unparse(calls[0].func)
        settings = ast.parse(f"{service}.{code}", mode="eval").body
        calls[0].keywords.append(ast.keyword("settings", settings))
    return replaced(source, (text_of(source, was), ast.unparse(changed)))
