"""Random programs whose arrays are held by objects, lists, dicts, closures and generators, as in ordinary programs.

References to an array are visible: eager NumPy computes into an operand that has no other reference, resizes only
arrays without references, and frees dead arrays at once.
"""

from __future__ import annotations

from array_programs import OPERATORS, Program

HELPERS = """\
import sys
import weakref

class Holder:
    scale = 2.0

    def __init__(self, x, y=None):
        self.x = x
        self.y = x if y is None else y

    def scaled(self, k):
        return self.x * k

    def step(self, y):
        self.x = self.x + y
        return self

    def into(self, y):
        self.x += y
        return self.x

    def taken(self):
        x, self.x = self.x, self.y
        return x

    @property
    def twice(self):
        return self.x * 2

    def __add__(self, other):
        return Holder(self.x + other, self.y)

    def __getitem__(self, index):
        return (self.x, self.y)[index]

    def __iter__(self):
        yield self.x
        yield self.y * 1

def through(x, *rest, **more):
    return x

def added(x, y=1.5, *, by=None):
    return x + y if by is None else (x + y) * by

def pair(x, y):
    z = y * 1.5
    return x + z, z

def three(x, y):
    z = y - 1
    return z, x * z, (z, x)

def made(*arrays):
    for array in arrays:
        yield array * 1

"""

# {e}: an expression; {p}, {q}: arrays; {o}: an operator; {v}, {w}: new names; {r}: the name of another variable.
FORMS = (
    "o.x = {e}",
    "o.y = {p}",
    "{v} = o.x {o} {p}",
    "{v} = {p} {o} o.y",
    "{v} = o.scaled(s) {o} {p}",
    "{v} = o.step({p}).x",
    "{v} = o.into({p})",
    "{v} = o.taken() {o} {p}",
    "{v} = o.twice {o} {p}",
    "{v} = (o + {p}).x {o} {q}",
    "{v} = o[0] {o} o[1]",
    "{v}, {w} = o",
    "{v} = Holder({e}).x {o} {p}",
    "{v} = Holder({e}).twice",
    "{v} = Holder.scale * {p}",
    "l.append({e})",
    "{v} = (l.pop() if len(l) > 1 else l[0]) {o} {p}",
    "{v} = l[-1] {o} {p}",
    "l[0] = {p} {o} l[0]",
    "{v} = [x {o} {p} for x in l][-1]",
    "{v} = sum(l)",
    "{v} = sum(x * 2 for x in ({p}, {q}))",
    "d['k'] = {e}",
    "d['k'] += {p}",
    "{v} = d['k'] {o} {p}",
    "{v} = d.get('k') {o} {p}",
    "{v} = d.pop('j', {e}) {o} {p}",
    "{v} = {{**d}}['k'] * 2",
    "{v}, {w} = {e}, {p}",
    "{p}, {q} = {q}, {p}",
    "{v} = {w} = {e}; {v} += {p}",
    "{v} = {p}; {v} = {v} {o} {q}",
    "{v} = through({e}) {o} {p}",
    "{v} = through({e}, {p}) {o} {q}",
    "{v} = through(*({e},)) {o} {p}",
    "{v} = added({e}, {p})",
    "{v} = added({e}, by={p})",
    "{v} = added(*({p}, {q}), by=s)",
    "{v}, {w} = pair({p}, {q}); {v} = {v} {o} {w}",
    "{w}, {v} = pair({e}, {p})",
    "{w}, {v}, {r} = three({p}, {q}); {v} = {w} {o} {r}[0]",
    "{v} = pair({p}, {q})[0] {o} {p}",
    "{v} = (lambda k, z={p}: k {o} z)({e})",
    "g = lambda k: k {o} {p}; {v} = g({e})",
    "{v} = next(made({p})) {o} {q}",
    "{v} = [*made({p}, {q})][1] {o} {p}",
    "{v} = sum(made({p}, {q}))",
    "{v} = {e} if n else {p}",
    "{v} = {p} if {p}.ndim > 1 else {e}",
    "{v} = {p} and {q} if {p}.size == 1 else {e}",
    "{v} = {p}.T {o} {q}.T",
    "{v} = {p}.ravel() {o} s",
    "{v} = {p}.reshape(-1)[:3] {o} s",
    "{v} = {p}.copy() {o} {q}",
    "{v} = {p}.astype(float) {o} {q}",
    "{v} = np.add({p}, {q}, out=({e}).astype(float) if n < 0 else None)",
    "{v} = {e}; {r} = isinstance({v}, np.ndarray) and sys.getrefcount({v})",
    "{r} = sys.getrefcount({p} * s + {q} * 1.0) if {p}.ndim else 0",
    "{v} = {e}; {r} = {v}.base is None, {v}.flags.owndata",
    "{v} = {e}; {r} = {v} is {p}, np.shares_memory({v}, {p})",
    "{v} = {e}; {v}.resize((2,))",
    "{v} = {p} * 1; {v}.resize((7,)); {r} = {v}.size",
    "{v} = {p} {o} {q}; {w} = weakref.ref({v}); {v} = 1; {r} = {w}() is None; {w} = {p}; {v} = {q}",
    "{r} = float(np.sum({p})), {p}.shape, {p}.dtype.num",
    "{r} = bool(np.any({p})), len({p}) if {p}.ndim else 0",
    "{v} = {p} {o} {q}; del {v}; {v} = {p}",
    "{v} = np.stack([{p}, {p}])[0] {o} {q}",
    "{v} = {p}.max(axis=-1, keepdims=True) {o} {q} if {p}.size and {p}.ndim else {p}",
)
BLOCKS = (
    ("try:", "    {v} = {e}", "except (ValueError, TypeError, ZeroDivisionError):", "    {v} = {p}"),
    ("try:", "    {v} = {e}", "finally:", "    {w} = {p} {o} {q}"),
    ("with np.errstate(all='ignore'):", "    {v} = {e}"),
    ("if np.sum({p}) > 1:", "    {v} = {e}", "else:", "    {v} = {q}"),
    ("{v} = {e}", "for x in ({p}, {q}):", "    {v} = {v} {o} x"),
    ("{v} = {p}", "for x in made({p}, {q}):", "    {v} = x {o} {v}"),
    ("{v} = {p}", "for k, x in enumerate(l):", "    {v} = x + k"),
    ("{v} = {p}", "for x, y in zip(l, (l[0] * 1, {q})):", "    {v} = x {o} y"),
    ("{v} = {p}", "while not isinstance({v}, tuple):", "    {v} = ({v} * 2,)", "{v} = {v}[0] {o} {q}"),
)


class Objects(Program):
    """Programs whose operations take and give arrays through objects, containers and calls."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.source = HELPERS + self.source

    def statement(self) -> int:
        if not self.lines:
            self.lines += ["o = Holder(a * 1, b)", "l = [b * 1]", "d = {'k': c * 1}"]
        if self.random.random() < 0.1:
            return super().statement()
        value, count = self.expression(self.random.randint(1, 2))
        number = len(self.lines)
        parts = {
            "e": value,
            "p": self.random.choice(self.names[-5:]),
            "q": self.random.choice(self.names[-5:]),
            "o": self.random.choice(OPERATORS[:8]),
            "v": f"v{number}",
            "w": f"w{number}",
            "r": f"r{number}",
        }
        block = self.random.choice(BLOCKS) if self.random.random() < 0.15 else (self.random.choice(FORMS),)
        self.lines += [line.format(**parts) for line in block]
        text = " ".join(block)
        self.names += [parts[key] for key in "vw" if f"{{{key}}}" in text]
        self.results += [parts["r"]] if "{r}" in text else []
        return max(count, 1)

    def kept(self, made: list[str]) -> list[str]:
        held = [name for name in ("o.x", "l[-1]", "d['k']") if self.random.random() < 0.3]
        return [*super().kept(made), *held, *self.results[:3]]
