"""Statements that change the world under a replay, look at frames, or let objects die."""

from __future__ import annotations

from .engine import Generator, NotHere, statement, statement_builder

L = {"feature": "lifetimes"}
statement(3, "$=CLoud = Loud($int)", **L)
statement(2, "$=int = Loud($int).get()", **L)
statement(1, "$=any1 = Loud($int) + $int", **L)
statement(2, "$=CLoud = None", **L)
statement(1, "$=mixed = (Loud($int), $int)", **L)
statement(1, "LOG.append(Loud($int))\ndel LOG[3:]", **L)
statement(1, "$=any1 = weakref.ref(Loud($int))\nprint($v_any1 is None)", **L)
statement(1, "$new_any1 = Loud($int)\n$new_any1 = weakref.ref($1, lambda r: print('dead'))\n$1 = $int", **L)
statement(1, "print(len([Loud($int), Loud($int)][$slice]))", **L)

F = {"feature": "frames", "needs": "function"}
statement(1, "print(sys._getframe().f_lineno, sys._getframe().f_code.co_name)", **F)
statement(1, "print(sys._getframe(1).f_code.co_name)", **F)
statement(1, "print(sorted(locals()))", **F)
statement(1, "print({k: v for k, v in locals().items() if type(v) in (int, str)})", **F)
statement(1, "warnings.warn('w', stacklevel=$l_level)", **F)
statement(0.7, "print([(e.name, e.lineno) for e in traceback.extract_stack(limit=2)])", **F)
statement(0.7, "print(eval('$v_int + 1'))", **F)
statement(0.5, "exec('print($v_int)')", **F)

D = {"feature": "disturb"}


@statement_builder(3, feature="disturb")
def change_global(g: Generator) -> None:
    """A global gets a new value, usually of the same kind, by code that the recorder does not see."""
    names = [n for n in g.module.variables if n not in g.module.fixed]
    if not names:
        raise NotHere
    name = g.random.choice(names)
    kind = g.module.variables[name] if g.chance(0.8) else "any"
    forms = (
        f"globals()['{name}'] = ${kind}",
        f"{{x:none}}opaque(lambda: globals().update({name}=${kind}))",
        f"outside(globals().__setitem__, '{name}', ${kind})",
        f"{{x:none}}sorted([1, 2], key=lambda k: globals().__setitem__('{name}', ${kind}) or k)",
    )
    g.line(g.random.choice(forms))


@statement_builder(3, feature="disturb")
def change_class(g: Generator) -> None:
    """Changes attributes of classes and instances, or an object's class."""
    kind = g.random.choice(g.classes) if g.classes else None
    if kind is None:
        raise NotHere
    name = kind.removeprefix("C")
    forms = (
        f"{name}.shared = $int",
        f"{name}.shared = $any",
        f"opaque(setattr, {name}, 'shared', $int)",
        f"{name}.made += 1",
        f"$v_{kind}.shared = $int",
        f"$v_{kind}.x = $int",
        f"$v_{kind}.y = $any",
        f"$v_{kind}.x += $int",
        f"opaque($v_{kind}.__dict__.__setitem__, 'y', $int)",
        f"opaque(setattr, $v_{kind}, 'z', $float)",
        f"{name}.base = lambda self, p: self.y + p",
        f"$v_{kind}.base = lambda p: p",
        f"$v_{kind} += $int",
        f"del $v_{kind}.y",
    )
    index = g.random.randrange(len(forms))
    if index == len(forms) - 1 and not g.scope.trying:
        raise NotHere
    text = forms[index]
    g.line(text.replace("$v_" + kind + " +=", f"$a_{kind} +="))


@statement_builder(1.5, feature="disturb")
def change_in_callback(g: Generator) -> None:
    """A list or dict changes while C code, or one of our loops, uses it."""
    forms = (
        "{x:none}sorted($ints, key=lambda k: ($v_ints.clear(), k)[1])",
        "{x:none}$=ints = [($v_ints.pop() if $v_ints else 0) for _ in range(3)]",
        "opaque($v_ints.clear)",
        "opaque($v_ints.extend, [1, 2])\ndel $0[12:]",
        "opaque($v_map.update, $map)",
        "opaque($v_map.clear)",
        "LOG.sort(key=lambda k: str(type(k)))",
        "opaque($v_arr.fill, $float)",
        "{x:none}$=int = max($ints, key=lambda k: opaque(len, $ints) - k, default=0)",
    )
    for text in g.random.choice(forms).split("\n"):
        g.line(text)


@statement_builder(1, feature="identity")
def change_function(g: Generator) -> None:
    """Changes code, defaults and cells of functions on which nothing else depends."""
    forms = (
        "leaf_a.__code__, leaf_b.__code__ = leaf_b.__code__, leaf_a.__code__",
        "leaf_a.__defaults__ = ($int,)",
        "leaf_b.__kwdefaults__ = {'u': $int}",
        "opaque(setattr, leaf_a, '__defaults__', ($int,))",
        "opaque(setattr, leaf_b, '__code__', leaf_a.__code__)",
        "cell_of(leaf_c).cell_contents = $int",
        "opaque(setattr, cell_of(leaf_c), 'cell_contents', $any)",
        "globals()['leaf_a'], globals()['leaf_b'] = leaf_b, leaf_a",
        "print(leaf_a(), leaf_b($int), leaf_c())",
        "print(leaf_a($int), leaf_b($int), leaf_c($int))",
    )
    g.line(g.random.choice(forms))


W = {"feature": "disturb", "needs": "function"}
statement(0.7, "gc.collect()", **W)
statement(
    0.7,
    "try:\n    for $new_key in $v_map:\n        $v_map[str($int)] = 1\nexcept RuntimeError as $new_exc:\n    print($2)",
    **W,
)
statement(0.7, "sys.setprofile(lambda *a: None)\ntry:\n    $block\nfinally:\n    sys.setprofile(None)", **W)
statement(0.7, "sys.settrace(lambda *a: None)\ntry:\n    $block\nfinally:\n    sys.settrace(None)", **W)
statement(0.7, "print(sorted(sys._getframe(1).f_locals)[:3], sys._getframe().f_back.f_lineno)", **W)
statement(0.5, "$new_CLoud = Loud($int)\n$1.me = $1\n$1 = None\ngc.collect()", **L)
statement(0.5, "{x:none}$=int = [Loud(q) for q in $pair][0].n", **L)
statement(0.5, "try:\n    Loud($int), $int // 0\nexcept ZeroDivisionError:\n    print('caught')", **L)
statement(0.5, "try:\n    Loud($int).get($int)\nexcept TypeError:\n    print('caught')", **L)
