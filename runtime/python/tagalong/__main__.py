"""The command line: `python -m tagalong {run,dis,explain,info}`."""

from __future__ import annotations

import argparse
import os
import platform
import site
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tagalong import options
from tagalong._dumps import LOWERED
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

    dis = commands.add_parser("dis", help="run the file and print the code objects of one of its functions")
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
        "--dump",
        metavar="LIST",
        help="with --call: call the function three times more, traced, and print what its graphs are lowered to: a "
        f"comma separated list of {', '.join(LOWERED)}, all",
    )
    dis.add_argument(
        "--stages", dest="dump", type=options.renamed("--stages", "--dump"), help=argparse.SUPPRESS
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

# If that file is not read, this runs a script or a module as nearly as possible as the interpreter does.
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
    """The flags of this interpreter, such as -O, -W error and -X dev, as multiprocessing passes them on."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return flags


def _run(arguments: argparse.Namespace, **variables: str) -> int:
    environment = options.environment_of(arguments)
    if arguments.command == "explain" or getattr(arguments, "mode", None) is None:
        environment["TAGALONG"] = "1"
    environment |= variables
    # Another process, so that the program sees exactly what it would see without tagalong.
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
    from tagalong._dis import section

    counters, knobs = _core.internals()
    limits = [(name, value, options.LIMITS[name][1]) for name, value in _core.limits().items()]
    for title, rows in (("counters", counters), ("knobs", knobs), ("limits", limits)):
        section(title, "\n".join(f"{name:30} {value:>12} {meaning}" for name, value, meaning in rows))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit code, and does not return if a program is run."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "run":
            return _run(arguments)
        if arguments.command == "explain":
            return _run(arguments, TAGALONG_REPORT="1")
        if arguments.command == "info":
            return _info(arguments)
        from tagalong._dis import dis

        return dis(arguments)
    except OptionError as error:
        print(f"tagalong: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
