"""Do the classes declare the arguments that the catalog gives them?

    python e2e/catalog_arguments.py [FOLDER]        # FOLDER: templates/services

Most constructors of the framework end in **kwargs: a misspelt argument goes through, in silence,
and a type checker cannot tell. Run this with a Python that has every service's packages: it
imports each file of the catalog and asks the real classes. (catalog_check.py asks their source.)

Exit code 0: they do. 1: one line for each argument that nothing declares.
"""

import ast
import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

CATALOG = Path(__file__).resolve().parents[3] / "templates" / "services"

# Models of one's own machine, on top of several gigabytes that are not installed for a type check.
# See HEAVY in every_bot.py.
PLACEHOLDERS = ("pocket_tts", "torch", "funasr", "funasr.utils", "funasr.utils.postprocess_utils")


def declared(cls: type) -> set[str]:
    """The names that a constructor takes, through every **kwargs up to the one that ends it."""
    if dataclasses.is_dataclass(cls):
        return {field.name for field in dataclasses.fields(cls) if field.init}
    if fields := getattr(cls, "model_fields", None):  # of a pydantic model
        return set(fields) | {field.alias for field in fields.values() if field.alias}
    names: set[str] = set()
    for base in cls.__mro__:
        if base is object or "__init__" not in vars(base):
            continue
        parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        names |= {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return names


def load(path: Path) -> ModuleType:
    module = ModuleType(f"{path.parent.name}_{path.stem}")
    # Not imported, so that no byte code of it is left beside it; that of the packages is kept.
    exec(compile(path.read_text("utf-8"), path, "exec"), vars(module))
    return module


def named(module: ModuleType, node: ast.expr) -> typing.Any:
    """What a dotted name in a module stands for."""
    if isinstance(node, ast.Attribute):
        return getattr(named(module, node.value), node.attr)
    assert isinstance(node, ast.Name), ast.unparse(node)
    return getattr(module, node.id, None)  # a built-in has no keyword arguments in the catalog


def wrong(path: Path) -> Iterator[tuple[bool, str]]:
    """Each keyword argument of a file: whether it is wrong, and how to say it."""
    module = load(path)
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not call.keywords:
            continue
        cls = named(module, call.func)
        known, name = declared(cls), ast.unparse(call.func)
        for keyword in call.keywords:
            said = f"{path.parent.name}/{path.name}: {name} takes no argument {keyword.arg}"
            yield keyword.arg not in known, said


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CATALOG
    for name in PLACEHOLDERS:
        sys.modules[name] = MagicMock()
    files = sorted(folder.glob("*/*.py"))
    found = [pair for path in files for pair in wrong(path)]
    for bad, line in found:
        if bad:
            print(line)
    print(f"{len(files)} files, {len(found)} arguments", file=sys.stderr)
    return any(bad for bad, _ in found)


if __name__ == "__main__":
    sys.exit(main())
