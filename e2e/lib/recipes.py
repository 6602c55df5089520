"""Changes to a bot's files that its documents describe. Each function makes one of them.

A recipe takes the files and the section of the document, and returns the changed files. Nothing
sorts their imports or formats them. `follow` does all this in a project.
"""

import ast
import functools
import re
import textwrap
from collections.abc import Callable
from typing import Any

import bots
from editing import (
    Section,
    above,
    above_tools,
    documents,
    listed,
    parted,
    replaced,
    required,
    statement,
    text_of,
    with_arguments,
    with_imports,
    with_own_import,
)

RUN = "    await runner.run()"
PIPELINE = "    pipeline = Pipeline("

Files = dict[str, str]  # their texts, by their names in server/
Recipe = Callable[[Files, Section], Files]
EDITED = ("agent.py", "bot.py")  # a recipe may also write new ones


def edits(file: str) -> Callable[[Callable[..., str]], Callable[..., Files]]:
    """Make a recipe of a function that takes and returns the text of this file."""

    def decorate(change: Callable[..., str]) -> Callable[..., Files]:
        @functools.wraps(change)
        def recipe(files: Files, section: Section, **options: Any) -> Files:
            return files | {file: change(files[file], section, **options)}

        return recipe

    return decorate


OTHERS = ("conftest.py", "self_host.py", "sentences.py", "webhooks.py")


def read(project: bots.Project) -> Files:
    """The files that recipes change, and those that they have added."""
    files = sorted(file for file in project.server.glob("*.py") if file.name not in OTHERS)
    return {file.name: file.read_text() for file in files}


def write(project: bots.Project, files: Files) -> None:
    for name, text in files.items():
        (project.server / name).write_text(text)


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
    """Do what the document says under the title, even if it is another bot's document."""
    section = documents((of or project).folder)[document, title]
    write(project, recipe(read(project), section))
    for package in added_packages(section):
        bots.must("uv", "add", package, cwd=project.server)


@edits("agent.py")
def variables(source: str, section: Section) -> str:
    """AGENTS.md: a setting that is required, and one that is not."""
    settings = [section.code("os.environ["), section.code("os.getenv(")]
    function = f'DEFAULT = "1"\n\n\ndef settings():\n    return {", ".join(settings)}\n'
    needs = section.code("Needs(").replace("...", '"OTHER", if_set="NAME"')
    assert "`Needs(...)`, which is in `vbot`" in section.text
    source = required(above_tools(source, function), f'    "NAME",\n    {needs},\n')
    return with_imports(source, "import os\n\nfrom vbot import Needs\n")


def tool(files: Files, section: Section) -> Files:
    """README.md, RECIPES.md, DEPLOY.md: a tool in a file of its own, and what it needs in .env.

    Its text is in the document, or else it is an example that is there.
    """
    words = " ".join(section.text.split())
    line = section.code("from ")
    _, module, *_ = line.split()
    if section.blocks:
        assert f"`server/{module}.py`" in words
        [block] = section.blocks
    else:
        assert f"`server/{module}.py`" in words
        block = files[f"{module}.py"]
    [name] = re.findall(r"`(\w+),` to `TOOLS`", words)
    needed = re.search(r'((?:`(?:"\w+"|Needs\([^`]+\)),`(?:,| and)? )+)to `REQUIRED`', words)
    lines = re.findall(r"`([^`]+,)`", needed[1]) if needed else []
    if any(one.startswith("Needs(") for one in lines):
        assert "`Needs` is in `vbot`" in words
        line += "\nfrom vbot import Needs"
    source = listed(with_own_import(files["agent.py"], line), name)
    if lines:
        source = required(source, "".join(f"    {one}\n" for one in lines))
    return files | {"agent.py": source, f"{module}.py": block}


def message(files: Files, section: Section) -> Files:
    """client/README.md: a line of the tool of README.md, whose variable it sends."""
    [line] = section.blocks
    [module] = re.findall(r"The frame is in `(.*?)`", section.text)
    imports, result = f"from {module} import RTVIServerMessageFrame\n", "    await params.result"
    before, after = "\nfrom pipecat.services", f"\n{imports}from pipecat.services"
    changed = replaced(files["days.py"], (result, f"{line}{result}"), (before, after))
    return files | {"days.py": changed}


@edits("bot.py")
def more_time(source: str, section: Section) -> str:
    """RECIPES.md: a service that may take longer."""
    limited = section.code("vbot.Service(")
    return replaced(source, (re.sub(r", \w+=\d+\)$", ")", limited), limited))


@edits("bot.py")
def second_services(source: str, section: Section) -> str:
    """RECIPES.md: services that take over, each made as the first one of its kind is."""
    [block] = section.blocks
    imports, code = parted(block)
    seconds = ""
    for name in re.findall(r"second_(\w+)\)", code):
        made = statement(source, name).value
        for needed in ast.walk(made):  # such as the address of Ollama
            if isinstance(needed, ast.Name) and f"\n    {needed.id} = os.getenv(" in source:
                seconds += f"    {text_of(source, statement(source, needed.id))}\n"
        told = section.code("system_instruction=")
        second = text_of(source, made).replace("system_instruction=system_instruction", told)
        seconds += f"    second_{name} = {second}\n"
    return with_imports(above(source, PIPELINE, seconds + code), imports)


def alerts(files: Files, section: Section) -> Files:
    """RECIPES.md: a person is told of failures."""
    [module] = section.blocks
    assert "`server/alerts.py`" in section.text
    code = f"    {section.code('conversation.monitor.')}\n"
    source = with_imports(above(files["bot.py"], RUN, code), section.code("import alerts"))
    return files | {"bot.py": source, "alerts.py": module}


@edits("bot.py")
def mute(source: str, section: Section) -> str:
    """RECIPES.md: messages of the page mute the person."""
    [block] = section.blocks
    imports, code = parted(block)
    return with_imports(above(source, RUN, code), imports)


@edits("bot.py")
def turns(source: str, section: Section, only: str = "") -> str:
    """RECIPES.md: what starts and ends a turn, and what interrupts; or one of these arguments."""
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


@edits("bot.py")
def speech_detection(source: str, section: Section) -> str:
    """RECIPES.md: arguments of the voice activity detection."""
    changed = replaced(source, ("SileroVADAnalyzer()", section.code("SileroVADAnalyzer(")))
    return with_imports(changed, section.imports("VADParams"))


@edits("bot.py")
def long_conversations(source: str, section: Section) -> str:
    """RECIPES.md: the model summarizes what was said."""
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


@edits("agent.py")
def slow_tool(source: str, section: Section, function: str = SLOW) -> str:
    """RECIPES.md: a tool during which the conversation goes on."""
    code = f"{section.code('@tool_options(')}\n{function.strip()}\n"
    imports = section.imports("tool_options")
    imports += "from pipecat.services.llm_service import FunctionCallParams\n"
    return with_imports(above_tools(source, code, "slow"), imports)


@edits("bot.py")
def mcp_tools(source: str, section: Section) -> str:
    """RECIPES.md: tools of a server."""
    code = f"    {section.code('found = ')}\n    {section.code('await worker.queue_frame(')}\n"
    names = ("MCPClient", "StreamableHttpParameters", "LLMSetToolsFrame")
    return with_imports(above(source, RUN, code), section.imports(*names))


@edits("bot.py")
def service_turns(source: str, section: Section) -> str:
    """README.md: an argument with which a service waits longer before a turn ends."""
    words = " ".join(section.text.split())
    found = re.search(r"set `([^`]*)` in the arguments of `(\w+)`", words)
    assert found
    imports = "".join(f"{span}\n" for span in section.spans if span.startswith("from "))
    return with_imports(with_arguments(source, found[2], found[1]), imports)


@edits("bot.py")
def values(source: str, section: Section) -> str:
    """RECIPES.md: a value that came with a session, for the model."""
    return replaced(source, ("vbot.facts_about(runner_args)", section.code("vbot.facts_about(")))


@edits("bot.py")
def callers_keys(source: str, section: Section) -> str:
    """RECIPES.md: the model is told what keys a caller presses."""
    enters = "            transport.input(),\n"
    step = f"            {section.code('DTMFAggregator(')}\n"
    changed = replaced(source, (enters, enters + step))
    return with_imports(changed, section.imports("DTMFAggregator"))


hand_over = tool  # DEPLOY.md: one that hands a call to a person


def shared_room(files: Files, section: Section) -> Files:
    """RECIPES.md: a room that a colleague joins, and that the bot can leave."""
    handlers, leave = section.blocks
    left = r'(?ms)^    @transport\.event_handler\("on_client_disconnected"\)\n.*?cancel\(\)\n'
    was = re.search(left, files["bot.py"])
    assert was and "`server/leave.py`" in section.text
    source = replaced(
        with_imports(files["bot.py"], section.code("from leave import")),
        (was[0], handlers),
        ("*agent.TOOLS,", f"{section.code('leave_tool(')}\n        *agent.TOOLS,"),
    )
    return files | {"bot.py": source, "leave.py": leave}


def steps(files: Files, section: Section) -> Files:
    """RECIPES.md: a conversation in steps, of Pipecat Flows."""
    [module] = section.blocks
    assert "`server/flow.py`" in section.text
    enters = "            user_aggregator,\n"
    ready = "async def on_ready(conversation):\n"
    source = replaced(
        with_imports(files["bot.py"], section.code("import flow")),
        (
            "user_aggregator, assistant_aggregator = LLMContextAggregatorPair(",
            section.code("user_aggregator, assistant_aggregator"),
        ),
        (enters, f"            {section.code('flow.KeepTools(')}\n{enters}"),
        ("    return pipeline, services\n", f"    {section.code('return pipeline')}\n"),
        ("    pipeline, services = ", "    pipeline, services, llm, aggregators = "),
        ("    # Reports services", f"    {section.code('steps = ')}\n    # Reports services"),
        (ready, f"{ready}        {section.code('await steps.initialize(')}\n"),
    )
    return files | {"bot.py": source, "flow.py": module}
