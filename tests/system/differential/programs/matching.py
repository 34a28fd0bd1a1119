"""`match` statements: each kind of pattern, guards, captures, fall through."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: match_literals
# f(1) => record, hit
# f(2) => miss record, hit
# f(3) => miss record
# f("x") => miss record
# f(None) => hit exit
def f(x):
    match x:
        case 1:
            return "one"
        case 2 | 3:
            return "two or three"
        case "x":
            return "ex"
        case None:
            return "none"
        case _:
            return "other"


# program: match_sequences
# f([1, 2]) => record, hit
# f([1]) => hit exit
# f((1, 2, 3, 4)) => hit exit
# f("ab") => miss record
# f([]) => hit exit
# f([7, 8]) => hit
def f(x):
    match x:
        case [a, b]:
            return "two", a, b
        case [a]:
            return "one", a
        case [a, *rest, z]:
            return "many", a, rest, z
        case []:
            return "empty"
        case _:
            return "no sequence"


# program: match_mappings
# f({"kind": "a", "v": 1, "w": 2}) => record, hit
# f({"kind": "b", "list": [1, 2]}) => hit exit
# f({"other": 1}) => hit exit
# f([]) => miss record
def f(x):
    match x:
        case {"kind": "a", "v": v, **rest}:
            return "a", v, rest
        case {"kind": "b", "list": [first, *_]}:
            return "b", first
        case {}:
            return "some mapping"
        case _:
            return "nothing"


# program: match_classes
# f(Point(1, 2)) => record, hit
# f(Point(0, 5)) => hit exit
# f(Circle(3)) => hit exit
# f(3.5) => hit exit
# f("s") => hit exit
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Circle:
    r: int


def f(p):
    match p:
        case Point(0, y):
            return "on axis", y
        case Point(x=x, y=y):
            return "point", x, y
        case Circle(r) if r > 2:
            return "big circle", r
        case int() | float():
            return "number"
        case str(s):
            return "text", s


# program: match_guards_and_names
# f((1, 2)) => record, hit
# f((2, 1)) => hit exit
# f((5, 5)) => hit exit
# f(Color.RED) => miss record
class Color:
    RED = "red"


def f(x):
    match x:
        case (a, b) if a < b:
            return "up", a, b
        case (a, b) if a > b:
            return "down", a, b
        case Color.RED:
            return "red"
        case whole:
            return "whole", whole


# program: match_as_and_nested
# f({"p": [1, {"q": 2}]}) => record, hit
# f({"p": [5, {"q": 6}]}) => hit
# f({"p": [1, {"r": 2}]}) => hit exit
def f(x):
    match x:
        case {"p": [int() as n, {"q": q} as inner]}:
            return n, q, inner
    return "no match"


# program: match_in_a_loop
# f(["go north", "stop"]) => record, hit
# f(["stop"]) => hit exit
# f(["go south", "stop"]) => hit
def f(commands):
    log = []
    for command in commands:
        match command.split():
            case ["go", direction]:
                log.append(direction)
            case ["stop"]:
                break
            case _:
                raise ValueError(command)
    return log


# program: match_args_error
# f(3) => record, hit
# f(Strange()) => hit exit
class Strange:
    __match_args__ = ("a",)


def f(x):
    try:
        match x:
            case Strange(a, b):
                return a, b
            case other:
                return other
    except TypeError as error:
        return str(error)
