"""An exception that is raised and caught."""


def program(table, name):
    try:
        return table[name]
    except KeyError as error:
        return f"no {error.args[0]}"


CALLS = [({"a": 1}, "b"), ({"a": 1}, "c"), ({"a": 1}, "a")]
