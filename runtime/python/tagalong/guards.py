"""Guards: the conditions under which a specialisation is used (PEP 510).

    from tagalong import guards

    tagalong.specialize(f, fast_f, [guards.Builtins("chr"), guards.ArgType(0, int)])

Other guards are subclasses of `Guard`:

    class Workday(guards.Guard):
        def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> guards.Answer:
            return guards.Answer.USE if date.today().weekday() < 5 else guards.Answer.NOT_NOW

An argument is given as a positional index, or as the name of its parameter. The ready guards run no code of the program
and take some nanoseconds; a guard written in Python takes a call.
"""

from enum import IntEnum

from tagalong import _core

__all__ = [
    "Answer",
    "ArgType",
    "Array",
    "Attribute",
    "Builtins",
    "Cell",
    "Dict",
    "Func",
    "Globals",
    "Guard",
    "Identity",
    "Recorded",
    "Relation",
    "Type",
    "Value",
]


class Answer(IntEnum):
    """Results of `Guard.check`; `Guard.init` returns 0 (fine) or NEVER."""

    USE = 1
    """the guard holds: use the specialisation if the others hold, too"""
    NOT_NOW = 0
    """it does not hold for this call"""
    NEVER = -1
    """it will never hold again: the specialisation is removed"""


Guard = _core.guards_Guard
ArgType = _core.guards_ArgType
Array = _core.guards_Array
Attribute = _core.guards_Attribute
Builtins = _core.guards_Builtins
Cell = _core.guards_Cell
Dict = _core.guards_Dict
Func = _core.guards_Func
Globals = _core.guards_Globals
Identity = _core.guards_Identity
Recorded = _core.guards_Recorded
Relation = _core.guards_Relation
Type = _core.guards_Type
Value = _core.guards_Value
