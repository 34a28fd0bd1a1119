"""Splits source text into tokens by a regular expression and evaluates expressions."""

import re

TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z_]\w*)|(?P<sign>[-+*/()]))")
NAMES = {"a": 2.0, "b": 3.5, "rate": 0.25}


def tokens(text):
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise SyntaxError(text[place:])
        place = match.end()
        yield match.lastgroup, match.group(match.lastgroup)
    yield "end", ""


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.kind, self.text = next(self.tokens)

    def step(self):
        kind, text = self.kind, self.text
        self.kind, self.text = next(self.tokens, ("end", ""))
        return kind, text

    def sum(self):
        value = self.product()
        while self.text in ("+", "-"):
            _, sign = self.step()
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self):
        value = self.atom()
        while self.text in ("*", "/"):
            _, sign = self.step()
            other = self.atom()
            value = value * other if sign == "*" else value / other
        return value

    def atom(self):
        kind, text = self.step()
        if kind == "number":
            return float(text)
        if kind == "name":
            return NAMES[text]
        if text == "-":
            return -self.atom()
        value = self.sum()
        self.step()
        return value


total = 0.0
for number in range(30000):
    total += Parser(f"(a + {number}) * rate - b / ({number} + 1.5) * -2").sum()
print(round(total, 6))
