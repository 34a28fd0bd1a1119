"""A small stack machine that runs a program, and a parser of its assembly language."""

PROGRAM = """
push 0
store total
push 1
store i
loop:
load i
push {}
greater
jump_if end
load total
load i
dup
mul
add
push 1000003
mod
store total
load i
push 1
add
store i
jump loop
end:
load total
halt
"""


class Machine:
    def __init__(self, code):
        self.code = code
        self.stack = []
        self.names = {}
        self.place = 0
        self.steps = 0

    def run(self):
        while True:
            name, operand = self.code[self.place]
            self.place += 1
            self.steps += 1
            if name == "halt":
                return self.stack.pop()
            getattr(self, "do_" + name)(operand)

    def do_push(self, operand):
        self.stack.append(operand)

    def do_dup(self, _):
        self.stack.append(self.stack[-1])

    def do_load(self, operand):
        self.stack.append(self.names[operand])

    def do_store(self, operand):
        self.names[operand] = self.stack.pop()

    def do_add(self, _):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a + b)

    def do_mul(self, _):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a * b)

    def do_mod(self, _):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a % b)

    def do_greater(self, _):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a > b)

    def do_jump(self, operand):
        self.place = operand

    def do_jump_if(self, operand):
        if self.stack.pop():
            self.place = operand


def assemble(text):
    labels, code = {}, []
    for line in text.split("\n"):
        if line.endswith(":"):
            labels[line[:-1]] = len(code)
        elif line:
            name, _, operand = line.partition(" ")
            code.append((name, operand))
    return [
        (name, labels[operand] if name.startswith("jump") else int(operand) if operand.isdigit() else operand)
        for name, operand in code
    ]


machine = Machine(assemble(PROGRAM.format(100000)))
print(machine.run(), machine.steps)
