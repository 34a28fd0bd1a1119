"""Values that follow from others over one-way constraints, kept up to date in order of their depth."""

from __future__ import annotations

from itertools import pairwise

SIZE = 300
KIND = "objects"


class Variable:
    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.users = []
        self.defined_by = None
        self.depth = 0


class Constraint:
    def __init__(self, strength, output, *inputs):
        self.strength = strength
        self.output = output
        self.inputs = inputs

    def depth(self):
        deepest = 0
        for variable in self.inputs:
            if variable.depth > deepest:  # noqa: PLR1730 - as people write it
                deepest = variable.depth
        return deepest + 1

    def execute(self):
        raise NotImplementedError


class Equal(Constraint):
    def execute(self):
        self.output.value = self.inputs[0].value


class Scaled(Constraint):
    def execute(self):
        source, scale, offset = self.inputs
        self.output.value = source.value * scale.value + offset.value


class Fixed(Constraint):
    def __init__(self, strength, output, value):
        super().__init__(strength, output)
        self.value = value

    def execute(self):
        self.output.value = self.value


class Planner:
    def __init__(self):
        self.constraints = []

    def add(self, constraint):
        output = constraint.output
        old = output.defined_by
        if old is not None:
            if old.strength >= constraint.strength:
                return False
            self.remove(old)
        output.defined_by = constraint
        self.constraints.append(constraint)
        for variable in constraint.inputs:
            variable.users.append(constraint)
        self.update_depths(output)
        return True

    def remove(self, constraint):
        constraint.output.defined_by = None
        self.constraints.remove(constraint)
        for variable in constraint.inputs:
            variable.users.remove(constraint)

    def update_depths(self, start):
        todo = [start]
        while todo:
            variable = todo.pop()
            definer = variable.defined_by
            variable.depth = definer.depth() if definer is not None else 0
            for user in variable.users:
                todo.append(user.output)

    def plan(self, start):
        found = []
        todo = [start]
        while todo:
            variable = todo.pop()
            for user in variable.users:
                if user not in found:
                    found.append(user)
                    todo.append(user.output)
        found.sort(key=lambda each: each.output.depth)
        return found

    def change(self, variable, value):
        fixed = Fixed(9, variable, value)
        if not self.add(fixed):
            return
        fixed.execute()
        for constraint in self.plan(variable):
            constraint.execute()
        self.remove(fixed)


def chain(size):
    planner = Planner()
    variables = [Variable(f"v{number}", number) for number in range(size)]
    for before, after in pairwise(variables):
        planner.add(Equal(1, after, before))
    total = 0
    for value in range(8):
        planner.change(variables[0], value * 3)
        total += variables[-1].value
    return total


def projection(size):
    planner = Planner()
    scale, offset = Variable("scale", 10), Variable("offset", 1000)
    sources, results = [], []
    for number in range(size):
        source, result = Variable("source", number), Variable("result", number)
        planner.add(Scaled(1, result, source, scale, offset))
        sources.append(source)
        results.append(result)
    planner.change(sources[3], 17)
    planner.change(scale, 5)
    planner.change(offset, 2000)
    return sum(each.value for each in results)


def run(size):
    return chain(size), projection(size)
