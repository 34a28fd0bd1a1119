"""A tokeniser and a small evaluator: strings, dicts, exceptions at the end of the input."""

from __future__ import annotations

SIZE = 300
KIND = "objects"

PRIORITY = {"+": 1, "-": 1, "*": 2, "%": 2}


class Tokens:
    def __init__(self, text):
        self.text = text
        self.place = 0

    def next(self):
        text, place = self.text, self.place
        while text[place] == " ":  # IndexError at the end
            place += 1
        start = place
        if text[place].isdigit():
            while place < len(text) and text[place].isdigit():
                place += 1
        elif text[place].isalpha():
            while place < len(text) and text[place].isalnum():
                place += 1
        else:
            place += 1
        self.place = place
        return text[start:place]


def tokenise(text):
    tokens = Tokens(text)
    found = []
    try:
        while True:
            found.append(tokens.next())
    except IndexError:
        return found


def evaluate(tokens, names):
    values, operators = [], []

    def reduce_top():
        operator, right = operators.pop(), values.pop()
        left = values.pop()
        if operator == "+":
            values.append(left + right)
        elif operator == "-":
            values.append(left - right)
        elif operator == "*":
            values.append(left * right)
        else:
            values.append(left % right)

    for token in tokens:
        if token in PRIORITY:
            while operators and operators[-1] != "(" and PRIORITY[operators[-1]] >= PRIORITY[token]:
                reduce_top()
            operators.append(token)
        elif token == "(":
            operators.append(token)
        elif token == ")":
            while operators[-1] != "(":
                reduce_top()
            operators.pop()
        elif token.isdigit():
            values.append(int(token))
        else:
            values.append(names.get(token, 0))
    while operators:
        reduce_top()
    return values[0]


def run(size):
    names = {"width": 7, "height": 11, "depth": 3}
    counts = {}
    total = 0
    for number in range(size):
        text = f"(width + {number}) * height - depth * ({number} % 5 + other{number % 7})"
        tokens = tokenise(text)
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
        total += evaluate(tokens, names)
    return total, sorted(counts.items())[:5]
