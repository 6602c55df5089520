"""Does the catalog still say what the installed pipecat-ai says?

    python e2e/services/lib/catalog_check.py [FOLDER [LIST]]

FOLDER is templates/services unless it is given, LIST is catalog_left_out.toml.

Run it with a Python that has pipecat-ai installed, no extras needed: it imports nothing of the
framework. A service's module can be imported only where that service's own packages are
installed, so this script reads the framework's source with `ast` and checks every file of the
catalog in any environment. What it cannot read is reported like any other difference.

It compares
  1. the services of the framework's own scaffolder (its registry) with the files here: names,
     classes, extras, the Python that the extras need, deprecation;
  2. each import, class, keyword argument (nested ones too) and enum member in a file with the
     definition of the class, its base classes included;
  3. the environment variables of the registry with those of a file;
  4. the default models and voices of the classes with what a file's head promises;
  5. all services, transports and serializers of the framework, of which the registry has a part,
     with the files here and the list of those left out, catalog_left_out.toml;
  6. the arguments of the classes that are an address or a path with the variables of a file: each
     is set by one, or is on the list of those left out.

Transports take part in 2, in 5 and in the extras of 1. Calls into the standard library are left to
the type checker.

Exit code 0: they agree. 1: they don't, one line for each difference. 2: pipecat-ai is missing.
"""

import ast
import functools
import importlib.metadata
import importlib.util
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).resolve().parents[3] / "templates" / "services"
TRANSPORTS = "transports"

LEFT_OUT = Path(__file__).resolve().with_name("catalog_left_out.toml")

# The base classes of what a bot can be made of.
ROOTS = {"AIService", "BaseTransport", "FrameSerializer"}

# What the framework's runner builds for the `# key:` of a transport, which its file does not name:
# the transport, and for those over a WebSocket the serializer.
WEBSOCKET = "pipecat.transports.websocket.fastapi.FastAPIWebsocketTransport"
BUILT = {
    "daily": {"pipecat.transports.daily.transport.DailyTransport"},
    "webrtc": {"pipecat.transports.smallwebrtc.transport.SmallWebRTCTransport"},
    "livekit": {"pipecat.transports.livekit.transport.LiveKitTransport"},
    "websocket": {WEBSOCKET, "pipecat.serializers.protobuf.ProtobufFrameSerializer"},
    "twilio": {WEBSOCKET, "pipecat.serializers.twilio.TwilioFrameSerializer"},
    "telnyx": {WEBSOCKET, "pipecat.serializers.telnyx.TelnyxFrameSerializer"},
    "plivo": {WEBSOCKET, "pipecat.serializers.plivo.PlivoFrameSerializer"},
    "exotel": {WEBSOCKET, "pipecat.serializers.exotel.ExotelFrameSerializer"},
}

# The registry's list for each kind, an attribute of its class ServiceRegistry.
REGISTRY_LISTS = {
    "stt": "STT_SERVICES",
    "llm": "LLM_SERVICES",
    "tts": "TTS_SERVICES",
    "realtime": "REALTIME_SERVICES",
    "video": "VIDEO_SERVICES",
}

# Variables in which a file departs from the registry on purpose. The check fails when the
# registry comes round, so that the entry here goes too.
DEPARTURES = {
    # The key as text: an image has no file that a path could lead to.
    "gemini_tts": {"GOOGLE_CREDENTIALS_JSON"},
    "gemini_vertex_live_realtime": {"GOOGLE_CREDENTIALS_JSON"},
    "gladia_stt": {"GLADIA_REGION"},  # one of two literals: a free text does not type-check
    "google_stt": {"GOOGLE_CREDENTIALS_JSON"},
    "google_tts": {"GOOGLE_CREDENTIALS_JSON"},
    "google_vertex_llm": {"GOOGLE_CREDENTIALS_JSON"},
    "nvidia_stt": {"NVIDIA_USE_SSL"},  # a server of one's own may have no TLS
    "nvidia_tts": {"NVIDIA_USE_SSL"},
    "heygen_video": {"HEYGEN_AVATAR_ID"},  # the registry sends the name, not what it holds
    "ultravox": {"ULTRAVOX_SYSTEM_PROMPT"},  # the prompt of bot.py is used
}

# The names of arguments that hold an address or a path, or an object that may hold one.
PLACE = re.compile(
    r"(?:^|_)(?:url|uri|host|server|endpoint|address|path|dir|file|callback|client|http_options)(?:$|_)"
)

# Variables that packages beneath the framework read; addresses.py sees that they do.
BENEATH = {
    "ANTHROPIC_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "MOONSHINE_VOICE_CACHE",
    "OPENAI_BASE_URL",
}

# A parameter's default, with the module where it stands; None where it has to be given.
Default = tuple[str, ast.expr] | None


class Unreadable(Exception):
    """The source has a form that this script cannot follow."""


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or an attribute, `a` of the generic `a[b]`, else ""."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return node.id if isinstance(node, ast.Name) else ""


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those in its `try` and `if` blocks included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.Try):
            for handler in statement.handlers:
                yield from statements(handler.body)
        if isinstance(statement, (ast.Try, ast.If)):
            yield from statements(statement.body)
            yield from statements(statement.orelse)


def assigned(body: list[ast.stmt], name: str) -> ast.expr | None:
    """The value that a body gives to a name."""
    for statement in statements(body):
        if isinstance(statement, ast.Assign):
            if any(dotted(target) == name for target in statement.targets):
                return statement.value
        elif isinstance(statement, ast.AnnAssign) and dotted(statement.target) == name:
            return statement.value
    return None


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call, by name."""
    for k in call.keywords:
        if k.arg is None:
            raise Unreadable(f"argument {ast.unparse(k.value)}")
    return {k.arg: k.value for k in call.keywords if k.arg}


# --- the framework ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """A definition in the framework: the module where it stands, and its node there."""

    module: str
    node: ast.AST


@dataclass(frozen=True)
class Class:
    module: str
    node: ast.ClassDef


class Framework:
    """The source of an installed framework, read and never run."""

    def __init__(self, folder: Path):
        self.folder = folder  # the one that holds pipecat/
        self.trees: dict[str, ast.Module | None] = {}

    def tree(self, module: str) -> ast.Module | None:
        """The source of a module, None if there is none or it is not the framework's."""
        if module not in self.trees:
            path = self.folder.joinpath(*module.split("."))
            places = (path.with_suffix(".py"), path / "__init__.py")
            files = [f for f in places if module.startswith("pipecat.") and f.is_file()]
            self.trees[module] = ast.parse(files[0].read_text("utf-8")) if files else None
        return self.trees[module]

    @functools.cached_property
    def read_from_environment(self) -> set[str]:
        """Variables that the framework reads, its scaffolder's snippets left out."""
        out: set[str] = set()
        for file in self.folder.glob("pipecat/**/*.py"):
            text = file.read_text("utf-8")
            if "cli" in file.parts or not re.search(r"\b(getenv|environ)\b", text):
                continue
            for node in ast.walk(ast.parse(text)):
                match node:
                    case ast.Call(func=f, args=[ast.Constant(value=str(name)), *_]):
                        if dotted(f) in ("os.getenv", "os.environ.get"):
                            out.add(name)
                    case ast.Subscript(value=v, slice=ast.Constant(value=str(name))):
                        if dotted(v) == "os.environ":
                            out.add(name)
        return out

    def find(self, module: str, name: str) -> Found | None:
        """What a dotted name stands for in a module; None if it is not there or not pipecat's."""
        tree = self.tree(module)
        if tree is None:
            return None
        first, _, rest = name.partition(".")
        for statement in statements(tree.body):
            found = None
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if statement.name == first:
                    found = Found(module, statement)
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                for alias in statement.names:
                    if (alias.asname or alias.name) == first:
                        found = self.imported(statement.module or "", alias.name)
            elif (value := assigned([statement], first)) is not None:
                found = self.find(module, dotted(value)) if dotted(value) else None
                found = found or Found(module, value)
            if found:
                return self.member(found, rest) if rest else found
        return None

    def imported(self, module: str, name: str) -> Found | None:
        if found := self.find(module, name):
            return found
        tree = self.tree(f"{module}.{name}")
        return Found(f"{module}.{name}", tree) if tree else None

    def member(self, owner: Found, name: str) -> Found | None:
        """A name inside a module or a class, inherited ones included."""
        if isinstance(owner.node, ast.Module):
            return self.find(owner.module, name)
        if not isinstance(owner.node, ast.ClassDef):
            return None
        first, _, rest = name.partition(".")
        for cls in self.bases(Class(owner.module, owner.node))[0]:
            found = None
            for statement in cls.node.body:
                if isinstance(statement, ast.ClassDef) and statement.name == first:
                    found = Found(cls.module, statement)
            if found is None and (value := assigned(cls.node.body, first)) is not None:
                found = self.find(cls.module, dotted(value)) if dotted(value) else None
                found = found or Found(cls.module, value)
            if found:
                return self.member(found, rest) if rest else found
        return None

    def find_class(self, module: str, name: str) -> Class | None:
        found = self.find(module, name)
        if found and isinstance(found.node, ast.ClassDef):
            return Class(found.module, found.node)
        return None

    def bases(self, cls: Class) -> tuple[list[Class], set[str]]:
        """A class and its base classes in the order of lookup, and the foreign ones by name."""
        order, foreign = [cls], set[str]()
        for base in cls.node.bases:
            name = dotted(base)
            if found := self.find_class(cls.module, name):
                more, names = self.bases(found)
                order += more
                foreign |= names
            elif self.find(cls.module, name):
                raise Unreadable(f"base class {name} of {cls.node.name}")
            else:
                foreign.add(name.rpartition(".")[2])
        last = {c: at for at, c in enumerate(order)}  # a base that two classes share comes last
        return [c for at, c in enumerate(order) if last[c] == at], foreign

    def parameters(self, cls: Class) -> dict[str, Default]:
        """What the constructor takes."""
        order, foreign = self.bases(cls)
        decorators = {
            dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2]
            for c in order
            for d in c.node.decorator_list
        }
        if "BaseModel" in foreign or "dataclass" in decorators:
            # A model may still say in an __init__ of its own which fields can be left out.
            return self.declared_fields(order) | self.init_parameters(order)
        return self.init_parameters(order)

    def declared_fields(self, order: list[Class]) -> dict[str, Default]:
        """Of a dataclass or a pydantic model: its annotated names."""
        out: dict[str, Default] = {}
        for cls in reversed(order):
            for s in cls.node.body:
                if not isinstance(s, ast.AnnAssign) or dotted(s.annotation) == "ClassVar":
                    continue
                default = s.value
                if isinstance(default, ast.Call) and dotted(default.func) in ("field", "Field"):
                    given = keywords(default)
                    first = default.args[0] if default.args else given.get("default")
                    if isinstance(first, ast.Constant) and first.value is Ellipsis:
                        default = None
                    elif first is None and "default_factory" not in given:
                        default = None
                out[dotted(s.target)] = (cls.module, default) if default else None
        return out

    def init_parameters(self, order: list[Class]) -> dict[str, Default]:
        """Those of __init__ and, as long as it takes **kwargs, of the next one."""
        out: dict[str, Default] = {}
        own = True
        for cls in order:
            init = method(cls, "__init__")
            if init is None:
                continue
            for name, default in arguments(init).items():
                if default is None and not own:
                    default = ast.Constant(None)  # the subclass may give it itself
                out.setdefault(name, (cls.module, default) if default else None)
            own = False
            if init.args.kwarg is None:
                break
        return out

    # Defaults of the settings: the class fills `default_settings = self.Settings(...)` in its
    # __init__, or in a function that this calls, from literals, constants and enum members.

    def settings_default(self, cls: Class, name: str) -> object:
        """The model or voice of a service class when its user gives none."""
        for c in self.bases(cls)[0]:
            init = method(c, "__init__")
            if init is None:
                continue
            helpers = [self.find(c.module, dotted(call.func)) for call in calls(init)]
            functions = [f.node for f in helpers if f and isinstance(f.node, ast.FunctionDef)]
            for function in [init, *functions]:
                for call in calls(function):
                    if dotted(call.func).endswith("Settings") and name in keywords(call):
                        scope = self.locals(c.module, function, call.lineno)
                        return self.value(c.module, keywords(call)[name], scope)
        raise Unreadable(f"default {name} of {cls.node.name}")

    def locals(self, module: str, function: ast.FunctionDef, line: int) -> dict[str, object]:
        """What names hold at a line of a function that is called without arguments."""
        scope: dict[str, object] = {}
        before = [
            (name, default) for name, default in arguments(function).items() if default is not None
        ]
        for statement in function.body:
            if isinstance(statement, ast.Assign) and statement.lineno < line:
                before += [(dotted(target), statement.value) for target in statement.targets]
        for name, node in before:
            try:
                scope[name] = self.value(module, node, scope)
            except Unreadable:
                scope.pop(name, None)
        return scope

    def value(self, module: str, node: ast.AST, scope: dict[str, object]) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in scope:
                return scope[name]
            case ast.BoolOp(op=ast.Or(), values=values):
                found = [self.value(module, v, scope) for v in values]
                return next((v for v in found if v), found[-1])
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {
                    self.value(module, k, scope): self.value(module, v, scope)
                    for k, v in pairs
                    if k
                }
            case ast.Subscript(value=left, slice=index):
                table = self.value(module, left, scope)
                if isinstance(table, dict):
                    return table[self.value(module, index, scope)]
            case ast.Attribute(value=left, attr="value"):  # of an enum member
                return self.value(module, left, scope)
            case ast.Name() | ast.Attribute():
                if found := self.find(module, dotted(node)):
                    if isinstance(found.node, ast.expr) and found.node is not node:
                        return self.value(found.module, found.node, {})
        raise Unreadable(f"value {ast.unparse(node)!r} in {module}")


def method(cls: Class, name: str) -> ast.FunctionDef | None:
    for statement in cls.node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return statement
    return None


def arguments(function: ast.FunctionDef) -> dict[str, ast.expr | None]:
    """The parameters of a function, `self` left out, with their defaults."""
    a = function.args
    names = [arg.arg for arg in a.args]
    missing: list[ast.expr | None] = [None] * (len(names) - len(a.defaults))
    pairs = dict(zip(names, missing + a.defaults, strict=True))
    pairs |= dict(zip([arg.arg for arg in a.kwonlyargs], a.kw_defaults, strict=True))
    pairs.pop("self", None)
    return pairs


def calls(node: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call)]


# --- the catalog -----------------------------------------------------------------------------


@dataclass
class Variable:
    name: str
    required: bool
    kind: str
    read_by_library: bool
    unless: str
    other: str  # read where this one is unset
    default: str


@dataclass
class Entry:
    """One file of the catalog."""

    where: str  # "stt/deepgram.py"
    kind: str
    names: list[str]
    extras: list[str]
    python: str
    flags: list[str]
    key: str  # of a transport
    variables: list[Variable]
    tree: ast.Module
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # of the framework

    @property
    def build(self) -> ast.FunctionDef:
        return next(s for s in self.tree.body if isinstance(s, ast.FunctionDef))


VARIABLE = re.compile(
    r"(?P<name>\w+) (?P<need>required|optional) (?P<kind>\w+)(?: (?P<reader>library|server))?"
    r"(?: unless (?P<unless>\w+))?(?: (?:with|without) \w+)*(?: else (?P<other>\w+))?"
    r"(?: =(?P<default>\S+))?: ."
)


def read_entry(path: Path) -> Entry:
    text = path.read_text(encoding="utf-8")
    where = f"{path.parent.name}/{path.name}"
    head: dict[str, str] = {}
    variables = []
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        key, _, value = line[2:].partition(": ")
        if key != "env":
            head[key] = value
        elif m := VARIABLE.match(value):
            if m["reader"] == "server":
                continue  # read by the generated webhooks.py, which is none of the framework's
            required, library = m["need"] == "required", m["reader"] == "library"
            words = (m[word] or "" for word in ("unless", "other", "default"))
            variables.append(Variable(m["name"], required, m["kind"], library, *words))
        else:
            raise Unreadable(line)
    entry = Entry(
        where=where,
        kind=path.parent.name,
        names=head["names"].split(", "),
        extras=head["extras"].split(", ") if "extras" in head else [],
        python=head.get("python", ""),
        flags=head["flags"].split(", ") if "flags" in head else [],
        key=head.get("key", ""),
        variables=variables,
        tree=ast.parse(text, str(path)),
    )
    for statement in entry.tree.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("pipecat"):
            for alias in statement.names:
                entry.imports[alias.asname or alias.name] = (statement.module or "", alias.name)
    return entry


# --- the checks ------------------------------------------------------------------------------


def check_code(framework: Framework, entry: Entry) -> Iterator[str]:
    """Imports, classes, arguments and members that the file uses (2)."""
    for module, name in entry.imports.values():
        if framework.tree(module) is None:
            yield f"module {module} is gone"
        elif framework.imported(module, name) is None:
            yield f"{module} has no {name}"
    called = calls(entry.build)
    for call in called:
        cls = called_class(framework, entry, call)
        if cls is None:
            name = dotted(call.func)
            module, imported = entry.imports.get(name.partition(".")[0], ("", ""))
            if module and "." in name and framework.imported(module, imported):
                yield f"{name} is gone"
            continue
        parameters = framework.parameters(cls)
        given = keywords(call)
        if call.args:
            yield f"{dotted(call.func)}: only keyword arguments can be checked"
        for name in given:
            if name not in parameters:
                yield f"{dotted(call.func)} takes no argument {name}"
        for name, default in parameters.items():
            if default is None and name not in given:
                yield f"{dotted(call.func)} now requires the argument {name}"
    functions = [call.func for call in called]
    for node in ast.walk(entry.build):
        if isinstance(node, ast.Attribute) and node not in functions:
            module, name = entry.imports.get(dotted(node).partition(".")[0], ("", ""))
            owner = framework.imported(module, name) if module else None
            if owner and framework.member(owner, dotted(node).partition(".")[2]) is None:
                yield f"{dotted(node)} is gone"


def called_class(framework: Framework, entry: Entry, call: ast.Call) -> Class | None:
    """The framework's class that a call makes an object of."""
    first, _, rest = dotted(call.func).partition(".")
    if first not in entry.imports:
        return None
    module, name = entry.imports[first]
    found = framework.find_class(module, f"{name}.{rest}" if rest else name)
    # The call of an enum makes nothing: it looks up a member.
    return None if found and "StrEnum" in framework.bases(found)[1] else found


def settings_owner(framework: Framework, entry: Entry, call: ast.Call) -> Class:
    """The service class whose Settings a call makes: not always the one that `build` returns."""
    module, name = entry.imports[dotted(call.func).removesuffix(".Settings")]
    owner = framework.find_class(module, name)
    if owner is None:
        raise Unreadable(f"the class of {dotted(call.func)}")
    return owner


def check_variables(framework: Framework, entry: Entry) -> Iterator[str]:
    """The head against the code, and both against the classes' defaults (4)."""
    service = service_class(framework, entry)
    head = {v.name: v for v in entry.variables}
    used: set[str] = set()
    if service is None:
        yield "build returns no class of the framework"
    for call in calls(entry.build):
        if isinstance(call.func, ast.Attribute) and dotted(call.func) == "os.environ.pop":
            used |= {str(a.value) for a in call.args if isinstance(a, ast.Constant)}
        for argument, node in keywords(call).items():
            read = read_variable(untrimmed(entry.build.body, node))
            if read is None:
                continue
            *before, name, form, fallback = read
            used |= {name, *before}
            for this, other in itertools.pairwise([*before, name]):
                if this not in head or head[this].other != other:
                    yield f"{this}: the code goes on to {other}, the head does not"
            variable = head.get(name)
            if variable is None:
                yield f"{name} is read and not in the head"
                continue
            if variable.read_by_library:
                yield f"{name} is read here, and by the framework according to the head"
            if (variable.required and not variable.unless) != (form == "required"):
                yield f"{name} is {form} in the code and not in the head"
            cls = called_class(framework, entry, call)
            if cls is None or service is None:
                continue  # said already
            settings = dotted(call.func).endswith(".Settings")
            if form == "library" and not settings and dotted(node).endswith("NOT_GIVEN"):
                yield f"{name}: NOT_GIVEN outside of Settings"
            if form == "switch" or (variable.unless and variable.kind == "secret"):
                continue  # a text in place of a key, where the client's package wants one
            if settings:
                default = framework.settings_default(
                    settings_owner(framework, entry, call), argument
                )
            else:
                default = constructor_default(framework, cls, argument)
                if form == "none" and (instead := taken_for_none(cls, argument)) is not None:
                    form, default = "library", instead
            yield from check_default(variable, form, fallback, default, settings)
    for v in entry.variables:
        if v.read_by_library and v.name not in framework.read_from_environment | BENEATH:
            yield f"{v.name} is no longer read by the framework"
        if not v.read_by_library and v.name not in used:
            yield f"{v.name} is in the head and not read"


def taken_for_none(cls: Class, argument: str) -> object:
    """X where a constructor says `argument or X`."""
    init = method(cls, "__init__")
    for node in ast.walk(init) if init else []:
        match node:
            case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), ast.Constant(value=value)]):
                if name == argument:
                    return value
    return None


# Defaults of ours in place of the class's.
OURS = {
    "OLLAMA_BASE_URL",  # the code adds /v1, unless it is there
    "OLLAMA_MODEL",  # llama2 is of 2023, and speaks English alone
}


def check_default(
    variable: Variable, form: str, fallback: object, default: object, settings: bool
) -> Iterator[str]:
    """One variable: the head's default, the code's, and the class's."""
    name, promised = variable.name, variable.default
    if form == "fallback":
        if str(fallback) != promised:
            yield f"{name}: the head says ={promised}, the code {fallback}"
        if (
            name not in OURS and default is not None and str(default) != str(fallback)
        ):  # or a number
            yield f"{name}: the class's default is {default}, not {fallback}"
    elif form == "library":
        if default is None:
            yield f"{name}: the class has no default any more, the head says ={promised}"
        elif str(default) != promised:
            yield f"{name}: the class's default is {default}, the head says ={promised}"
    elif promised:
        yield f"{name}: the head says ={promised}, nothing in the code does"
    elif form == "none" and default is not None:
        yield f"{name}: None is sent over the class's default {default}"
    elif form == "required" and settings and default is not None:
        yield f"{name}: the class has a default now, {default}: no need to require it"


def untrimmed(body: list[ast.stmt], node: ast.expr) -> ast.expr:
    """What an argument is made of: the address in `address.removesuffix("/v1") + "/v1"`."""
    match node:
        case ast.BinOp(left=source, op=ast.Add(), right=ast.Constant()):
            return untrimmed(body, source)
        case ast.Call(func=ast.Attribute(value=source, attr="removesuffix" | "rstrip")):
            return untrimmed(body, source)
        case ast.Name(id=name) if source := assigned(body, name):
            return untrimmed(body, source)
    return node


def read_variable(node: ast.AST) -> tuple[Any, ...] | None:
    """The variables that an argument reads, in one of the forms of the catalog.

    The last two of what is returned are the form and the fallback.
    """
    match node:
        case ast.Subscript(value=v, slice=ast.Constant(value=str(name))) if (
            dotted(v) == "os.environ"
        ):
            return name, "required", None
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return read_variable(inner)
        case ast.IfExp(test=ast.NamedExpr(value=ast.Call(args=[ast.Constant(value=str(name))]))):
            return name, "none", None
        case ast.Compare(left=ast.Call(func=f, args=[ast.Constant(value=str(name)), *_])) if (
            dotted(f) == "os.getenv"
        ):
            return name, "switch", None
        case ast.Call(func=f, args=[ast.Constant(value=str(name)), *other]) if (
            dotted(f) == "os.getenv"
        ):
            match other:
                case []:
                    return name, "none", None
                case [ast.Name(id="NOT_GIVEN")]:
                    return name, "library", None
                case [ast.Constant(value=value)]:
                    return name, "fallback", value
                case [ast.Call() as rest] if found := read_variable(rest):
                    return name, *found
    if any(dotted(n) in ("os.environ", "os.getenv") for n in ast.walk(node)):
        if not any(isinstance(n, ast.Call) and n.keywords for n in ast.walk(node)):
            raise Unreadable(f"use of a variable {ast.unparse(node)!r}")
    return None


def constructor_default(framework: Framework, cls: Class, argument: str) -> object:
    default = framework.parameters(cls).get(argument)
    return framework.value(*default, {}) if default else None


def service_class(framework: Framework, entry: Entry) -> Class | None:
    """The class that `build` returns."""
    returns = entry.build.returns
    module, name = entry.imports.get(dotted(returns) if returns else "", ("", ""))
    return framework.find_class(module, name) if module else None


# --- the registry ----------------------------------------------------------------------------


@dataclass
class Registered:
    """A service of the framework's scaffolder."""

    id: str
    classes: list[str]
    extras: list[str]
    variables: set[str]


def registered(framework: Framework) -> dict[str, dict[str, Registered]]:
    """The scaffolder's services, by kind and id."""
    metadata, configs = "pipecat.cli.registry.service_metadata", "pipecat.cli.registry._configs"
    registry = framework.find_class(metadata, "ServiceRegistry")
    snippets = framework.find(configs, "SERVICE_CONFIGS")
    if registry is None or snippets is None:
        raise Unreadable("the registry (pipecat/cli/registry)")
    code: dict[str, str] = ast.literal_eval(snippets.node)
    out: dict[str, dict[str, Registered]] = {}
    for kind, attribute in REGISTRY_LISTS.items():
        services = assigned(registry.node.body, attribute)
        if not isinstance(services, ast.List):
            raise Unreadable(f"{attribute} of the registry")
        out[kind] = {}
        for item in services.elts:
            if not isinstance(item, ast.Call):
                raise Unreadable(f"{attribute} of the registry")
            fields = keywords(item)
            name, package = (ast.literal_eval(fields[f]) for f in ("value", "package"))
            extras = re.search(r"\[(.*)\]", package)
            out[kind][name] = Registered(
                id=name,
                classes=ast.literal_eval(fields["class_name"]),
                extras=re.split(r", *", extras[1]) if extras else [],
                variables=set(
                    re.findall(r"os\.(?:getenv\(|environ\[)[\"'](\w+)", code.get(name, ""))
                ),
            )
    return out


def check_registry(
    framework: Framework, entries: list[Entry], registry: dict[str, dict[str, Registered]]
) -> Iterator[str]:
    """Every service of the registry has a file (1)."""
    for kind, services in registry.items():
        of_kind = [e for e in entries if e.kind == kind]
        for service in services.values():
            if not any(service.id in e.names for e in of_kind):
                package = ",".join(service.extras)
                yield (
                    f"{kind}: the framework's {service.id} ({service.classes[0]}, "
                    f"extras [{package}]) has no file"
                )


def parts(framework: Framework) -> Iterator[str]:
    """The framework's services, transports and serializers, and the folders that hold none."""
    folders = {
        f"pipecat.{kind}.{file.parent.name}"
        for kind in ("services", "transports")
        for file in framework.folder.glob(f"pipecat/{kind}/*/__init__.py")
    }
    for file in sorted(framework.folder.glob("pipecat/**/*.py")):
        path = file.relative_to(framework.folder).with_suffix("")
        module = ".".join(path.parts).removesuffix(".__init__")
        tree = framework.tree(module)
        for statement in statements(tree.body if tree else []):
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                bases = framework.bases(Class(module, statement))[0]
                if ROOTS.intersection(cls.node.name for cls in bases):
                    folders.discard(".".join(path.parts[:3]))
                    yield f"{module}.{statement.name}"
    yield from folders


def check_parts(framework: Framework, entries: list[Entry], left_out: Path) -> Iterator[str]:
    """All that the framework has is in the catalog or on the list, and not in both (5)."""
    there = set(parts(framework))
    here: set[str] = set()
    for entry in entries:
        here |= BUILT.get(entry.key, set())
        if entry.kind != TRANSPORTS and (cls := service_class(framework, entry)):
            here.add(f"{cls.module}.{cls.node.name}")
    listed: set[str] = set()
    for group in tomllib.loads(left_out.read_text("utf-8"))["left_out"]:
        for name in group["names"]:
            if name in listed:
                yield f"{left_out.name}: {name} stands there twice"
            listed.add(name)
    for name in sorted(there - here - listed):
        yield f"the framework's {name} has no file, and is not in {left_out.name}"
    for name in sorted((listed | here) - there):
        yield f"the framework has no {name}, which {left_out.name} or BUILT has"
    for name in sorted(listed & here):
        yield f"{left_out.name}: {name} has a file: take it off the list"


def check_places(framework: Framework, entry: Entry, left_out: set[str]) -> Iterator[str]:
    """Every address and path that a class takes is set by a variable, or left out (6)."""
    service, reading = service_class(framework, entry), {"os.environ", "os.getenv"}
    for call in calls(entry.build):
        cls = called_class(framework, entry, call)
        if cls is None or service is None:
            continue
        given = keywords(call)
        takes = set(framework.parameters(cls))
        for inner in ("Settings", "InputParams"):
            found = framework.member(Found(cls.module, cls.node), inner)
            if cls == service and found and isinstance(found.node, ast.ClassDef):
                takes |= set(framework.parameters(Class(found.module, found.node)))
        for name in sorted(takes):
            node = given.get(name)
            node = node and untrimmed(entry.build.body, node)
            read = node and reading.intersection(dotted(n) for n in ast.walk(node))
            listed = left_out & {name, f"{cls.node.name}.{name}"}
            if PLACE.search(name) and not read and not listed:
                yield f"{cls.node.name} takes {name}, which no variable sets"
            elif read and listed:
                yield f"a variable sets {name}: take it off the list"


def check_registered(framework: Framework, entry: Entry, service: Registered) -> Iterator[str]:
    """A file against the registry's entry (1, 3)."""
    if sorted(entry.extras) != sorted(service.extras):
        yield f"extras are {service.extras} in the registry, {entry.extras} here"
    cls = service_class(framework, entry)
    if cls and cls.node.name not in service.classes:
        yield f"the class is {service.classes[0]} in the registry, {cls.node.name} here"
    read = {v.name for v in entry.variables if not v.read_by_library}
    library = {v.name for v in entry.variables if v.read_by_library}
    departures = DEPARTURES.get(service.id, set())
    # The registry sets no addresses.
    own = {v.name for v in entry.variables if v.kind in ("url", "path") and not v.required}
    differ = (service.variables - library) ^ (read - (own - service.variables))
    for name in sorted(differ - departures):
        if name in service.variables:
            yield f"the registry reads {name}, this file does not"
        else:
            yield f"the registry does not read {name}, this file does"
    for name in sorted(departures - differ):
        yield f"{name} no longer departs from the registry: take it out of DEPARTURES"


def check_unregistered(
    framework: Framework, entry: Entry, package: importlib.metadata.Distribution
) -> Iterator[str]:
    """A file of which the registry knows nothing: its extra has the name of the folder (1)."""
    cls = service_class(framework, entry)
    if cls:
        folder = cls.module.split(".")[2]
        known = package.metadata.get_all("Provides-Extra") or []
        expected = [folder] if folder in known else []
        if entry.extras != expected:
            yield f"extras are {expected} by the name of {cls.module}, {entry.extras} here"


def check_package(
    framework: Framework, entry: Entry, package: importlib.metadata.Distribution
) -> Iterator[str]:
    """Extras that exist, the Python that they need, and deprecated classes (1)."""
    known = package.metadata.get_all("Provides-Extra") or []
    needs = ""
    for extra in entry.extras:
        if extra not in known:
            yield f"pipecat-ai has no extra {extra}"
        for requirement in package.requires or []:
            if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", requirement):
                if bound := re.search(r"python_version >= ['\"]([\d.]+)", requirement):
                    needs = f">={bound[1]}"
    if needs != entry.python:
        yield f"python: the extras need {needs or 'no more'}, the head says {entry.python or '-'}"
    cls = service_class(framework, entry)
    if cls:
        names = {dotted(d.func) for d in cls.node.decorator_list if isinstance(d, ast.Call)}
        if ("deprecated" in names) != ("deprecated" in entry.flags):
            yield f"{cls.node.name} is {'' if 'deprecated' in names else 'not '}deprecated"


def differences(
    framework: Framework,
    entries: list[Entry],
    left_out: Path,
    package: importlib.metadata.Distribution,
) -> Iterator[str]:
    registry: dict[str, dict[str, Registered]] = {}
    places = tomllib.loads(left_out.read_text("utf-8"))["place"]
    unset = {name for group in places for name in group["names"]}
    try:
        registry = registered(framework)
        yield from check_registry(framework, entries, registry)
    except (Unreadable, KeyError, ValueError, SyntaxError) as e:
        yield f"the registry cannot be read: {e}"
    try:
        yield from check_parts(framework, entries, left_out)
    except (Unreadable, KeyError, SyntaxError) as e:
        yield f"the services of the framework cannot be listed: {e}"
    for entry in entries:
        checks = [check_code(framework, entry), check_package(framework, entry, package)]
        if entry.kind != TRANSPORTS:
            checks += [check_variables(framework, entry), check_places(framework, entry, unset)]
            services = registry.get(entry.kind, {})
            known = [services[name] for name in entry.names if name in services]
            checks += [check_registered(framework, entry, service) for service in known]
            if registry and not known:
                checks.append(check_unregistered(framework, entry, package))
        for check in checks:
            try:
                yield from (f"{entry.where}: {line}" for line in check)
            except (Unreadable, KeyError, SyntaxError, RuntimeError) as e:
                yield f"{entry.where}: cannot be checked, {e}"


def main() -> int:
    given = [Path(arg) for arg in sys.argv[1:]]
    folder, left_out = given + [CATALOG, LEFT_OUT][len(given) :]
    spec = importlib.util.find_spec("pipecat")
    try:
        package = importlib.metadata.distribution("pipecat-ai")
    except importlib.metadata.PackageNotFoundError:
        package = None
    if spec is None or package is None or not spec.submodule_search_locations:
        print(f"pipecat-ai is not installed in {sys.prefix}", file=sys.stderr)
        return 2
    framework = Framework(Path(spec.submodule_search_locations[0]).parent)
    entries, found = [], set[str]()
    for path in sorted(folder.glob("*/*.py")):
        if all(line.startswith("#") for line in path.read_text(encoding="utf-8").splitlines()):
            continue  # it stands for several ways of dialing, whose files have the code
        try:
            entries.append(read_entry(path))
        except (Unreadable, KeyError, SyntaxError) as e:
            found.add(f"{path.parent.name}/{path.name}: cannot be read, {e}")
    services = sum(entry.kind in REGISTRY_LISTS for entry in entries)
    found |= set(differences(framework, entries, left_out, package))
    for line in sorted(found):
        print(line)
    print(
        f"{services} services and {len(entries) - services} transports compared with the source "
        f"of pipecat-ai {package.version}, nothing imported: "
        + (f"{len(found)} differences" if found else "they agree"),
        file=sys.stderr if found else sys.stdout,
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
