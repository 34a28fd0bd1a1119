"""pdb, by commands, in functions that have been traced; breakpoint(), post-mortem, sys.settrace and bdb."""

import bdb
import io
import pdb
import sys
import trace


def inner(x):
    y = x * 2
    if y > 5:
        y -= 1
    return y


def outer(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total


def numbers(n):
    for i in range(n):
        yield inner(i)


def failing(x):
    z = x + 1
    return 1 // (z - z)


def session(commands, function, *args):
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.prompt = "(pdb) "
    try:
        debugger.runcall(function, *args)
    except bdb.BdbQuit:
        print("quit")
    print(out.getvalue().replace(__file__, "FILE"))


for number in range(60):
    outer(5), list(numbers(3))
line = inner.__code__.co_firstlineno
session(
    ["step", "step", "step", "where", "args", "p total", "next", "return", "p locals()", "continue"], outer, 3
)
session(
    [
        f"break {line + 2}",
        "c",
        "where",
        "p y",
        "up",
        "p i, total",
        "down",
        "p x",
        "c",
        "c",
        "clear 1",
        "y",
        "c",
    ],
    outer,
    6,
)
session([f"tbreak {line + 3}, x == 4", "c", "p x", "p y", "jump " + str(line + 4), "p y", "c"], outer, 7)
session(["until", "until", "display total", "n", "n", "n", "source inner", "whatis n", "c"], outer, 4)
session(["s"] * 14 + ["w", "q"], numbers, 2)
session(["s", "s", "s", "!y = 100", "c"], inner, 4)
for number in range(30):
    outer(6)
try:
    failing(3)
except ZeroDivisionError:
    out = io.StringIO()
    post = pdb.Pdb(stdin=io.StringIO("where\np z\nup\nargs\nq\n"), stdout=out, readrc=False)
    post.use_rawinput = False
    post.reset()
    post.interaction(None, sys.exc_info()[2])
    print(out.getvalue().replace(__file__, "FILE"))


def call_with_breakpoint(n):
    total = outer(n)
    breakpoint()
    return total


for number in range(30):
    sys.breakpointhook = lambda: None
    call_with_breakpoint(3)
sys.breakpointhook = lambda: print("stopped in", sys._getframe(1).f_code.co_name, sys._getframe(1).f_locals)
call_with_breakpoint(4)
tracer = trace.Trace(count=1, trace=0, countfuncs=0)
tracer.runfunc(outer, 5)
print(
    sorted((number, count) for (file, number), count in tracer.results().counts.items() if file == __file__)
)
seen = []


def watch(frame, event, argument):
    seen.append((event, frame.f_code.co_name, frame.f_lineno - line, frame.f_lasti >= 0))
    return watch


sys.settrace(watch)
outer(3), list(numbers(2))
sys.settrace(None)
print(seen)
