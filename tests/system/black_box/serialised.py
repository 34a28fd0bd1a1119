"""pickle, cloudpickle, copy and marshal: the same bytes as plain, and nothing that does not belong to the program."""

import copy
import copyreg
import hashlib
import io
import marshal
import os
import pickle
import sys

import cloudpickle


def add(a, b=2):
    return a + b


def make(n):
    def inner(x):
        return x + n

    return inner


class Point:
    scale = 3

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def grown(self):
        return Point(self.x * self.scale)

    @property
    def twice(self):
        return self.x * 2

    def __reduce__(self):
        return Point, (self.x,)


def numbers(n):
    yield from range(n)


def shown(name, data, is_always_the_same=True):
    others = data.replace(os.fsencode(__file__), b"").lower()  # a clone may contain the name of our package
    assert b"tagalong" not in others and b"_core" not in others, name
    print(name, len(data), hashlib.sha256(data).hexdigest()[:16] if is_always_the_same else "")


inner = make(5)
for number in range(80):
    add(number), inner(number), Point(number).grown().twice, list(numbers(4)), make(number)(1)
for protocol in range(2, 6):
    shown("function", pickle.dumps(add, protocol))
    shown("object", pickle.dumps([Point(1), Point.grown, Point(2).grown], protocol))
shown("by value", cloudpickle.dumps(add))
shown("closure", cloudpickle.dumps(inner))
shown("lambda", cloudpickle.dumps(lambda x: add(x) + inner(x)))
shown("class", cloudpickle.dumps(Point), False)  # it contains a random number
shown("generator function", cloudpickle.dumps(numbers))
print(cloudpickle.loads(cloudpickle.dumps(add))(1), cloudpickle.loads(cloudpickle.dumps(inner))(2))
other = cloudpickle.loads(cloudpickle.dumps(Point))
for number in range(40):
    assert other(number).grown().twice == number * 6
print(pickle.loads(pickle.dumps(add)) is add, pickle.loads(pickle.dumps(Point(2).grown))().x)
for code in (add.__code__, make.__code__, numbers.__code__, Point.grown.__code__):
    # Which objects are marked as shared depends on the current reference counts.
    shown("marshal", marshal.dumps(code.replace(co_filename="f")), False)
    assert marshal.loads(marshal.dumps(code)) == code
print(copy.copy(add) is add, copy.deepcopy(add) is add, copy.deepcopy([Point(3), inner])[0].x)
print(copy.deepcopy({"f": add, "m": Point(1).grown})["m"]().x, copyreg.dispatch_table.get(type(add)))
for bad in (numbers(2), inner, sys._getframe()):
    try:
        pickle.Pickler(io.BytesIO()).dump(bad)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        print(type(error).__name__, str(error).split(" at 0x")[0])
