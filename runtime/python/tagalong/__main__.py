"""The command line: `python -m tagalong {run,dis,explain,info}`."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import os
import platform
import site
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from tagalong import options
from tagalong._stages import LOWERED, stage_texts
from tagalong.options import OptionError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tagalong",
        description="Record a Python program while it runs, and replay the recording.",
    )
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="run a program traced: the same as TAGALONG=1 python …")
    options.add_arguments(run)
    _add_program(run)

    explain = commands.add_parser(
        "explain", help="run a program traced, and say at its end what was recorded and why"
    )
    options.add_arguments(explain, tuple(name for name in options.BY_NAME if name not in ("mode", "report")))
    _add_program(explain)

    dis = commands.add_parser("dis", help="print the code objects of a function")
    dis.add_argument(
        "target", metavar="FILE.py:FUNCTION", help="for example filters.py:blur or shapes.py:Circle.area"
    )
    dis.add_argument(
        "--call",
        metavar="ARGUMENTS",
        help="record one call with these arguments, Python expressions separated by commas, seen from the file: prints "
        "the graph and its guards as well. Without it the recording code shows stand-ins for the hooks",
    )
    dis.add_argument(
        "--stages",
        metavar="LIST",
        help="with --call: call the function three times more, traced, and print what its graphs are lowered to: a "
        f"comma separated list of {', '.join(LOWERED)}, all",
    )

    info = commands.add_parser(
        "info", help="versions, and all options with their values and where they come from"
    )
    info.add_argument(
        "--markdown", action="store_true", help="only the table of options, as the documentation shows it"
    )
    info.add_argument(
        "--internal",
        action="store_true",
        help="only the counters and knobs of the engine, for those who work on tagalong: name, value, meaning",
    )
    return parser


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", dest="module", action="store_true", help="PROGRAM is a module name, as in python -m"
    )
    parser.add_argument("program", metavar="PROGRAM", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="arguments of the program")


START_FILE = "tagalong_autostart.pth"

# Where that file is not read: the interpreter's own way to a script or a module, as near as a program can come.
_RUN = """
import sys
import _tagalong_autostart
import runpy
is_module, *sys.argv = sys.argv[1:]
if is_module == "1":
    runpy._run_module_as_main(sys.argv[0])
else:
    import os
    sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _start_file_is_read() -> bool:
    folders = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return any(Path(folder, START_FILE).exists() for folder in folders)


def _interpreter_flags() -> list[str]:
    """Those that this interpreter was started with, such as -O, -W error and -X dev; as multiprocessing passes them."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return flags


def _run(arguments: argparse.Namespace, **variables: str) -> int:
    environment = options.environment_of(arguments)
    if arguments.command == "explain" or getattr(arguments, "mode", None) is None:
        environment["TAGALONG"] = "1"
    environment |= variables
    # Another process, so that the program sees exactly what it would see without us.
    switch = ["-m"] if arguments.module else []
    if not _start_file_is_read():
        switch = ["-c", _RUN, "1" if arguments.module else "0"]
    if sys.flags.ignore_environment:
        raise SystemExit(
            f"{arguments.command}: python -E and -I ignore the variables by which tagalong is switched on; "
            "leave them out"
        )
    command = [sys.executable, *_interpreter_flags(), *switch, arguments.program, *arguments.arguments]
    sys.stdout.flush()
    os.execve(sys.executable, command, environment)


def _load(target: str) -> tuple[FunctionType, dict[str, Any]]:
    """The function that FILE.py:FUNCTION names, and the globals of its file. Raises SystemExit with a sentence."""
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise SystemExit(f"dis: expected FILE.py:FUNCTION, got {target!r}")
    path = Path(file)
    if not path.is_file():
        raise SystemExit(f"dis: there is no file {file!r}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"dis: {file!r} is not a Python source")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))
    spec.loader.exec_module(module)
    try:
        found = functools.reduce(getattr, name.split("."), module)
    except AttributeError as error:
        raise SystemExit(f"dis: {file}: {error}") from None
    found = getattr(found, "__func__", found)
    if not isinstance(found, FunctionType):
        raise SystemExit(f"dis: {name} is not a Python function, but {type(found).__name__}")
    return found, vars(module)


def _bare(function: FunctionType) -> inspect.Signature:
    """What the function's code takes, whatever it says of itself (`__wrapped__`, `__signature__`)."""
    bare = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def _section(title: str, text: str) -> None:
    print(f"---- {title}\n{text.rstrip()}\n")


def _stages(text: str | None) -> tuple[str, ...]:
    """Those that --stages names, in their order. Raises SystemExit with a sentence."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in (*LOWERED, "all"):
            raise SystemExit(f"dis: --stages: {name!r} is not allowed; allowed: {', '.join(LOWERED)}, all")
    return LOWERED if "all" in names else tuple(name for name in LOWERED if name in names)


class _Hook:
    """Stands for the recorder in a listing of code that nobody has recorded yet."""

    def __call__(self, key: int) -> None:
        pass

    def __repr__(self) -> str:
        return "<hook>"


def _dis(arguments: argparse.Namespace) -> int:
    from tagalong import _core, record, rewriter
    from tagalong._face import list_code

    stages = _stages(arguments.stages)
    if stages and arguments.call is None:
        raise SystemExit("dis: --stages wants --call, the arguments of the calls")
    function, names = _load(arguments.target)
    if arguments.call is None:
        original = _core.original_code(function)
        _section("original code", list_code(original))
        _section("recording code", list_code(rewriter.instrument(original, hooks=_Hook())))
        _section("replay code", list_code(_core.wrap_code(original)))
        return 0

    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    def make_call() -> tuple[tuple[Any, ...], dict[str, Any]]:
        call: tuple[tuple[Any, ...], dict[str, Any]] = eval(
            f"__collect({arguments.call})", names | {"__collect": collect}
        )
        return call

    try:
        args, kwargs = make_call()
        _bare(function).bind(*args, **kwargs)
    except Exception as error:
        raise SystemExit(f"dis: --call {arguments.call!r}: {type(error).__name__}: {error}") from None
    recording = record(function, *args, **kwargs)
    _section("original code", recording.listing("original"))
    _section("recording code", recording.listing("recording"))
    _section("replay code", recording.listing("replay"))
    _section("graph", recording.graph)
    _section("guards", "\n".join(recording.guards))
    if recording.stop_reason is not None:
        _section("stopped", recording.stop_reason)
    if recording.exception is not None:
        _section("raised", f"{type(recording.exception).__name__}: {recording.exception}")
    if stages:
        texts = stage_texts(function, make_call)
        for stage in stages:
            _section(stage, "\n".join(texts[stage]) or "none")
    return 0


def _info(arguments: argparse.Namespace) -> int:
    if arguments.markdown:
        print(options.documentation(), end="")
        return 0
    if arguments.internal:
        return _internal()
    import tagalong

    try:
        import numpy
    except ImportError as error:
        of_numpy = f"no NumPy ({error})".partition("\n")[0]
    else:
        of_numpy = f"NumPy {numpy.__version__}"
    print(f"tagalong {tagalong.__version__}")
    print(f"{platform.python_implementation()} {platform.python_version()}, {of_numpy}")
    if not _start_file_is_read():
        print(
            f"{START_FILE} is in no folder where Python looks for such files: TAGALONG=1 alone traces nothing,"
        )
        print("`python -m tagalong run` does")
    print()
    for option in options.TABLE:
        text = options.process_environment().get(option.variable)
        origin = "default" if text is None else "environment"
        value = option.default if text is None else text
        print(f"{option.variable:17} {value!r:12} {origin:12} {option.help}")
    return 0


def _internal() -> int:
    from tagalong import _core

    counters, knobs = _core.internals()
    limits = [(name, value, options.LIMITS[name][1]) for name, value in _core.limits().items()]
    for title, rows in (("counters", counters), ("knobs", knobs), ("limits", limits)):
        _section(title, "\n".join(f"{name:30} {value:>12} {meaning}" for name, value, meaning in rows))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit code, and does not return where a program is run."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "run":
            return _run(arguments)
        if arguments.command == "explain":
            return _run(arguments, TAGALONG_REPORT="1")
        return _dis(arguments) if arguments.command == "dis" else _info(arguments)
    except OptionError as error:
        print(f"tagalong: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
