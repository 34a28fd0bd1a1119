"""Tools that show where something happened: warnings, logging, tracebacks, locals, reloads, timeit, weak references."""

import gc
import importlib
import logging
import pathlib
import sys
import tempfile
import timeit
import traceback
import warnings
import weakref


def warned(x):
    if x == 45:
        warnings.warn("here", stacklevel=1)
        warnings.warn("there", stacklevel=2)
    return x


def logged(x):
    if x % 40 == 0:
        logger.info("value %d", x)
    return warned(x)


def fails(x):
    try:
        return 10 // (x - 47)
    except ZeroDivisionError as error:
        raise ValueError("no") from error


def chained(x):
    value = warned(x)
    return fails(value)


def names(a, b):
    c = a + b
    return sorted(locals().items()), sorted(set(dir()))


class Kind:
    def method(self):
        return self


logging.basicConfig(
    stream=sys.stdout, format="%(funcName)s %(lineno)d %(filename)s %(message)s", level=logging.INFO
)
logger = logging.getLogger("x")
warnings.simplefilter("always")
warnings.showwarning = lambda message, kind, file, line, *_: print(
    message, kind.__name__, pathlib.Path(file).name, line
)
for number in range(60):
    logged(number)
    names(number, 1)
    try:
        chained(number)
    except ValueError as error:
        print(traceback.format_exc().replace(__file__, "FILE"))
        frame = error.__traceback__.tb_next.tb_frame
        print(frame.f_locals, frame.f_code is chained.__code__, frame.f_lineno)
        print(
            [
                (summary.name, summary.lineno, summary.colno)
                for summary in traceback.extract_tb(error.__traceback__)
            ]
        )
print(names(1, 2), timeit.timeit(Kind().method, number=50) >= 0)
folder = tempfile.mkdtemp()
path = pathlib.Path(folder, "reloaded.py")
sys.path.insert(0, folder)
sys.dont_write_bytecode = True
module = None
for version in (1, 20, 300):
    path.write_text(f"def f(x):\n    return x + {version}\n" + "#" * version)
    importlib.invalidate_caches()
    module = importlib.reload(module) if version > 1 else importlib.import_module("reloaded")
    print([module.f(n) for n in range(50)][-1], module.__spec__.origin == module.f.__code__.co_filename)


def made():
    def function(x):
        return x

    for n in range(50):
        function(n)
    return weakref.ref(function), weakref.ref(function.__code__)


print(
    [reference() is None for reference in made()][0], sys.getrefcount(chained), sys.getrefcount(Kind.method)
)
print(
    weakref.getweakrefcount(chained),
    gc.is_tracked(chained),
    sys.getsizeof(chained),
    sys.getsizeof(chained.__code__),
)
kinds = {type(found).__module__ for found in gc.get_objects()}
print("tagalong._core" in kinds)
print([type(found).__name__ for found in gc.get_referents(Kind().method)])
exec(compile("def g(x):\n    return x * 2\nprint([g(n) for n in range(40)][-1])", "made", "exec"), {})
print(eval("[n * n for n in range(30)][-1]"), sorted(set(sys.modules) & {"numpy", "boost"}))
