"""A scanner and parser of arithmetic, one method a rule."""


class Parser:
    def __init__(self, text):
        self.text, self.place = text, 0

    def peek(self):
        return self.text[self.place] if self.place < len(self.text) else ""

    def take(self):
        letter = self.peek()
        self.place += 1
        return letter

    def number(self):
        start = self.place
        while self.peek().isdigit():
            self.place += 1
        return int(self.text[start : self.place])

    def factor(self):
        if self.peek() == "(":
            self.take()
            value = self.sum()
            self.take()
            return value
        return self.number()

    def product(self):
        value = self.factor()
        while self.peek() == "*":
            self.take()
            value *= self.factor()
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-") and self.peek():
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value


def run():
    text = "1+2*(3+4*5)-6*7+(8-9)*10"
    return sum(Parser(f"{k}+{text}*{k % 3 + 1}").sum() for k in range(60))
