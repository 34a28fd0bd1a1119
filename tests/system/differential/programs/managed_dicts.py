"""Attributes of instances whose attributes lie in a dict from the start, as those of subclasses of builtin types."""
# fmt: off
# ruff: noqa: D101, D102, D103, D105, D107, F811


# program: attributes_of_a_dict
# limits: loops=1, heat=2
# f(30) => record record hit exit, hit stitch exit bridge
class Names(dict):
    def __init__(self):
        super().__init__()
        self.names = {}
        self.last = []
        self.flag = False


def f(n):
    made = []
    for i in range(n):
        one = Names()
        one.names[i] = i
        one.flag = not one.flag
        made.append((one.names, one.last, one.flag))
    return made


# program: attributes_of_a_list
# limits: loops=1, heat=2
# f(30) => record record hit exit, hit stitch exit bridge
class Numbers(list):
    pass


def f(n):
    total = 0
    for i in range(n):
        one = Numbers()
        one.a = i
        one.b = one.a + 1
        one.a = one.b * 2
        total += one.a + one.b
    return total
