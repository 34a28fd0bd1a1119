"""functools, decorators, singledispatch, and mocks."""

import functools
import inspect
import io
import unittest
from unittest import mock


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        calls.append((function.__name__, args))
        return function(*args, **kwargs)

    return wrapper


calls = []


@logged
def area(width, height=1):
    """The area."""
    return width * height


def price(item):
    return base() * item


def base():
    return 10


class Shop:
    tax = 2

    def total(self, items):
        return sum(price(item) for item in items) + self.extra()

    def extra(self):
        return self.tax

    @functools.cached_property
    def slow(self):
        return price(100)


@functools.lru_cache(maxsize=8)
def squared(x):
    return x * x


@functools.singledispatch
def kind(value):
    return "object"


@kind.register
def _(value: int):
    return "int"


@kind.register(list)
def _(value):
    return f"list of {kind(value[0])}"


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


shop = Shop()
for number in range(80):
    area(number), price(number), shop.total([1, 2]), squared(number % 9), kind(1), kind([2]), kind("x")
    assert Version(number) < Version(number + 1) and Version(3) >= Version(2)
print(len(calls), calls[-1], area.__name__, area.__doc__, inspect.signature(area), area.__wrapped__(2, 3))
print(squared.cache_info(), kind.registry.keys(), functools.partial(price, 3)(), shop.slow)
for number in range(40):
    with mock.patch(f"{__name__}.base", return_value=7) as patched:
        assert price(3) == 21 and patched.call_count == 1
    with mock.patch.object(Shop, "extra", autospec=True, side_effect=lambda self: 100):
        assert shop.total([1]) == 110
        Shop.extra.assert_called_once_with(shop)
    assert price(3) == 30 and shop.total([1]) == 12
spy = mock.Mock(wraps=price)
print([spy(n) for n in (1, 2)], spy.mock_calls)
strict = mock.create_autospec(price)
try:
    strict(1, 2)
except TypeError as error:
    print(error)
with mock.patch.dict(globals(), base=lambda: 1):
    print(price(5))
with mock.patch.object(Shop, "tax", new_callable=mock.PropertyMock, return_value=50):
    print(shop.total([]))
with mock.patch("builtins.sum", lambda items: 1000):
    print(shop.total([1]))
print(shop.total([1]), price(5))


class Tests(unittest.TestCase):
    @mock.patch(f"{__name__}.price", side_effect=[1, 2, ValueError("no more")])
    def test_total(self, patched):
        self.assertEqual(shop.total([0, 0]), 5)
        with self.assertRaises(ValueError):
            shop.total([0])
        self.assertEqual(patched.call_count, 3)

    def test_numbers(self):
        for n in range(30):
            with self.subTest(n=n):
                self.assertEqual(area(n, 2), 2 * n)


result = unittest.TextTestRunner(io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Tests))
print(result)
