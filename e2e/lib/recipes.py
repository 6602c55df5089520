"""Changes to bot.py that a bot's documents describe. Each function makes one of them.

A function takes the code of bot.py and the section of the document, and returns the changed code.
The linter sorts its imports and formats it. `follow` does all this in a project.
"""

import ast
import re
import textwrap
from collections.abc import Callable

import bots
from editing import (
    Section,
    above,
    above_tools,
    documents,
    parted,
    replaced,
    statement,
    text_of,
    with_arguments,
    with_imports,
)

RUN = "    await runner.run()"
PIPELINE = "    pipeline = Pipeline("
CONNECTED = '    @transport.event_handler("on_client_connected")\n'


Recipe = Callable[[str, Section], str]


def added_packages(section: Section) -> list[str]:
    """The packages that the text says to add with uv."""
    return re.findall(r'`uv add "?([a-z][\w\[\]-]+)', section.text)


def follow(
    project: bots.Project,
    document: str,
    title: str,
    recipe: Recipe,
    of: bots.Project | None = None,
) -> None:
    """Change bot.py as the document says under the title, even if it is another bot's document."""
    section = documents((of or project).folder)[document, title]
    bot = project.server / "bot.py"
    bot.write_text(recipe(bot.read_text(), section))
    for package in added_packages(section):
        bots.must("uv", "add", package, cwd=project.server)


def variables(source: str, section: Section) -> str:
    """AGENTS.md: a setting that is required, and one that is not."""
    loaded = "settings.load()\n"
    settings = [section.code("os.environ["), section.code("os.getenv(")]
    source = above(source, PIPELINE, f"    print({', '.join(settings)})")
    needs = section.code("Needs(").replace("...", '"OTHER", if_set="NAME"')
    last = "    # your own, one per line\n]\n\nif __name__"
    named = f'    "NAME",\n    {needs},\n{last}'
    # A bot whose services need no variables does not import it.
    imports = "" if re.search(r"import .*\bNeeds\b", source) else "from settings import Needs\n"
    source = replaced(source, (loaded, f'{loaded}\nDEFAULT = "1"\n'), (last, named))
    return replaced(source, ("import settings\n", f"import settings\n{imports}"))


def tool(source: str, section: Section) -> str:
    """README.md and AGENTS.md: a function that the model may call."""
    [block] = section.blocks
    imports, code = parted(block)
    function, _, listed = code.partition("\nTOOLS = [\n")
    if listed:
        names = re.findall(r"(?m)^    (\w+),$", listed)
    else:
        names = re.findall(r"Add\s+`(\w+),` to `TOOLS`", section.text)
    assert len(names) == 1
    return with_imports(above_tools(source, function, *names), imports)


def message(source: str, section: Section) -> str:
    """client/README.md: a line of the tool of README.md, whose variable it sends."""
    [line] = section.blocks
    [module] = re.findall(r"The frame is in `(.*?)`", section.text)
    imports, result = f"from {module} import RTVIServerMessageFrame", "    await params.result"
    return with_imports(replaced(source, (result, f"{line}{result}")), imports)


def more_time(source: str, section: Section) -> str:
    """AGENTS.md: a service that may take longer."""
    limited = section.code("Service(")
    return replaced(source, (re.sub(r", \w+=\d+\)$", ")", limited), limited))


def second_services(source: str, section: Section) -> str:
    """AGENTS.md: services that take over, each made as the first one of its kind is."""
    [block] = section.blocks
    imports, code = parted(block)
    seconds = ""
    for name in re.findall(r"second_(\w+)\)", code):
        made = statement(source, name).value
        for needed in ast.walk(made):  # such as the address of Ollama
            if isinstance(needed, ast.Name) and f"\n    {needed.id} = os.getenv(" in source:
                seconds += f"    {text_of(source, statement(source, needed.id))}\n"
        seconds += f"    second_{name} = {text_of(source, made)}\n"
    return with_imports(above(source, PIPELINE, seconds + code), imports)


def mute(source: str, section: Section) -> str:
    """AGENTS.md: messages of the page mute the person."""
    [block] = section.blocks
    imports, code = parted(block)
    return with_imports(above(source, RUN, code), imports)


def turns(source: str, section: Section, only: str = "") -> str:
    """AGENTS.md: what starts and ends a turn, and what interrupts; or one of these arguments."""
    [block] = section.blocks
    imports, code = parted(block)
    imports = imports.partition("\n#")[0]
    takes = "LLMUserAggregatorParams("
    if only:
        call = ast.parse(f"dict(\n{textwrap.dedent(code)}\n)", mode="eval").body
        assert isinstance(call, ast.Call)
        [code] = [f"{ast.unparse(k)}," for k in call.keywords if k.arg == only]
    if takes in source:
        return with_imports(replaced(source, (takes, f"{takes}\n{code}")), imports)
    arguments = section.code("user_params=")
    imports += "\n" + section.imports("LLMUserAggregatorParams")
    pair = "LLMContextAggregatorPair(context"
    changed = arguments.replace("...", f"\n{code}")
    return with_imports(replaced(source, (f"{pair})", f"{pair}, {changed})")), imports)


def speech_detection(source: str, section: Section) -> str:
    """AGENTS.md: arguments of the voice activity detection."""
    changed = replaced(source, ("SileroVADAnalyzer()", section.code("SileroVADAnalyzer(")))
    return with_imports(changed, section.imports("VADParams"))


def long_conversations(source: str, section: Section) -> str:
    """AGENTS.md: the model summarizes what was said."""
    arguments = section.code("assistant_params=")
    pair = re.search(r"LLMContextAggregatorPair\(\s*context\b", source)
    assert pair
    changed = replaced(source, (pair[0], f"{pair[0]}, {arguments}"))
    return with_imports(changed, section.imports("LLMAssistantAggregatorParams"))


SLOW = '''
async def slow(params: FunctionCallParams):
    """Take a long time."""
    await params.result_callback("done")
'''


def slow_tool(source: str, section: Section, function: str = SLOW) -> str:
    """AGENTS.md: a tool during which the conversation goes on."""
    code = f"{section.code('@tool_options(')}\n{function.strip()}\n"
    imports = section.imports("tool_options")
    imports += "from pipecat.services.llm_service import FunctionCallParams\n"
    return with_imports(above_tools(source, code, "slow"), imports)


def mcp_tools(source: str, section: Section) -> str:
    """AGENTS.md: tools of a server."""
    code = f"    {section.code('found = ')}\n    {section.code('await worker.queue_frame(')}\n"
    names = ("MCPClient", "StreamableHttpParameters", "LLMSetToolsFrame")
    return with_imports(above(source, RUN, code), section.imports(*names))


def service_turns(source: str, section: Section) -> str:
    """README.md: an argument with which a service waits longer before a turn ends."""
    words = " ".join(section.text.split())
    found = re.search(r"set `([^`]*)` in the arguments of `(\w+)`", words)
    assert found
    imports = "".join(f"{span}\n" for span in section.spans if span.startswith("from "))
    return with_imports(with_arguments(source, found[2], found[1]), imports)


def printed(source: str, *expressions: str, when: str = "") -> str:
    """Insert code that prints these values above the line that runs a session."""
    line = f"print({', '.join(expressions)})"
    return above(source, RUN, f"    if {when}:\n        {line}" if when else f"    {line}")


def values(source: str, section: Section) -> str:
    """AGENTS.md: a value that came with a session, for the model."""
    return replaced(source, ("facts(runner_args)", section.code("facts(")))


def dialed_out(source: str, section: Section) -> str:
    """README.md: the number that is called."""
    return printed(source, section.code("call.phone"), when="call")


def callers_keys(source: str, section: Section) -> str:
    """AGENTS.md: the model is told what keys a caller presses."""
    enters = "            transport.input(),\n"
    step = f"            {section.code('DTMFAggregator(')}\n"
    changed = replaced(source, (enters, enters + step))
    return with_imports(changed, section.imports("DTMFAggregator"))


def hand_over(source: str, section: Section) -> str:
    """DEPLOY.md: a tool that hands a call to a person, and the number that it needs."""
    tool, required = section.blocks
    imports, code = parted(tool)
    source = above_tools(source, code, "hand_over")
    own = "    # your own, one per line\n]\n\nif __name__"
    return with_imports(replaced(source, (own, required + own)), imports)


def shared_room(source: str, section: Section) -> str:
    """DEPLOY.md: a room that a colleague joins, and that the bot can leave."""
    handlers, leave = section.blocks
    was = re.search(rf"(?ms)^{re.escape(CONNECTED)}.*?await runner\.cancel\(\)\n", source)
    assert was
    imports, code = parted(leave)
    left = ("*TOOLS]", f"*TOOLS, {section.code('leave_tool(')}]")
    source = replaced(above_tools(source, code), (was[0], handlers), left)
    return with_imports(source, imports)
