#include "graph_machine.h"

#include <numeric>
#include <stdexcept>
#include <vector>

#include "replay/ir/operators.h"

namespace tagalong::replay {
namespace {

constexpr const char* kMachine = R"(
import gc, operator

ARITHMETIC = {'+': operator.add, '-': operator.sub, '*': operator.mul, '/': operator.truediv,
              '//': operator.floordiv, '%': operator.mod, '&': operator.and_}
COMPARE = {'<': operator.lt, '==': operator.eq, '>=': operator.ge}
NULL = type('Null', (), {})()


class Exit(Exception):
    pass


class Token:
    def __init__(self, world):
        world.tokens += 1
        self.world, self.name = world, world.tokens

    def __del__(self):
        if self.world.is_over:
            return
        self.world.log.append(f'del {self.name}')
        self.world.globals['abc'[self.name % 3]] = self.name


class Cell:
    pass


def text(value, world, depth=0):
    if depth > 4:
        return '...'
    if type(value) in (int, float):  # which object it is, too
        number = world.numbers.setdefault(id(value), (len(world.numbers), value))[0]
        return f'{value!r}#{number}'
    if isinstance(value, Token):
        return f'token {value.name}'
    if value is NULL:
        return 'null'
    if isinstance(value, Cell):
        return f'cell {text(value.content, world, depth + 1)}'
    if isinstance(value, World):
        return 'function'
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + '(' + ', '.join([text(item, world, depth + 1) for item in value]) + ')'
    return repr(value)


class World:
    def __init__(self, seed):
        self.is_over, self.tokens, self.numbers = False, 0, {}
        self.log, self.count, self.defaults, self.globals = [], seed, [None], {}
        for _ in range(3):
            self.change()

    def make(self, count):
        kind = count % 5
        return (Token(self) if kind == 0 else count if kind == 1 else count / 4 if kind == 2
                else [Token(self)] if kind == 3 else bool(count & 8))

    def change(self):
        self.count += 1
        self.globals['abc'[self.count % 3]] = self.make(self.count * 7)
        self.defaults[0] = self.make(self.count * 3)

    def call(self, arguments):
        self.log.append('call ' + ', '.join([text(each, self) for each in arguments]))
        self.change()
        return self.make(self.count * 11)


def typed(kind, *values):
    assert all([type(value) is kind for value in values]), (kind, values)
    return values


def step(world, values, node, seed):
    op, number, sign, thing, operands, results = node
    if op == 'drop':
        for name in operands:
            del values[name]
        return
    args = [values[name] for name in operands]
    out = []
    if op == 'function':
        out = [world]
    elif op == 'param':
        out = [(seed, seed / 2, 'param', seed > 2)[(number + seed) % 4]]
    elif op == 'constant':
        out = [thing]
    elif op == 'load_global':
        out = [world.globals[thing]]
    elif op == 'load_module_method':
        out = [NULL, world.globals[thing]]
    elif op == 'function_default':
        out = [world.defaults[number]]
    elif op == 'is_op':
        out = [(args[0] is args[1]) != bool(number)]
    elif op == 'bool_not':
        out = [not typed(bool, *args)[0]]
    elif op in ('number_truth', 'to_bool'):
        out = [bool(args[0])]
    elif op in ('int_binary', 'float_binary'):
        typed(int if op == 'int_binary' else float, *args)
        try:
            out = [ARITHMETIC[sign.rstrip('=')](*args)]
        except (ZeroDivisionError, OverflowError) as error:
            raise Exit(repr(error)) from None
    elif op in ('int_compare', 'float_compare'):
        typed(int if op == 'int_compare' else float, *args)
        out = [COMPARE[sign](*args)]
    elif op == 'make_cell':
        out = [Cell()]
        out[0].content = args[0]
    elif op == 'cell_get':
        out = [args[0].content]
    elif op == 'cell_set':
        world.log.append('set ' + text(args[1], world))
        args[0].content = args[1]
    elif op == 'build_tuple':
        out = [tuple(args)]
    elif op == 'build_list':
        out = [list(args)]
    elif op == 'list_append':
        world.log.append('append ' + text(args[1], world))
        args[0].append(args[1])
    elif op in ('call', 'array_binary'):  # both may run anything
        out = [world.call(args)]
    elif op == 'leave_frame':
        world.log.append(f'leave frame {number}')
    elif op == 'guard_type':
        holds(type(args[0]) is thing, op)
    elif op == 'guard_is':
        holds(args[0] is thing, op)
    elif op == 'guard_is_not':
        holds(args[0] is not thing, op)
    elif op == 'guard_true':
        holds(args[0] is True, op)
    elif op == 'guard_false':
        holds(args[0] is False, op)
    elif op == 'guard_not_null':
        holds(args[0] is not NULL, op)
    else:
        raise AssertionError(op)
    for name, result in zip(results, out, strict=True):
        assert name not in values
        values[name] = result


def holds(condition, op):
    if not condition:
        raise Exit('guard')


def run(nodes, snapshots, frames, seed):
    gc.disable()
    world, values = World(seed), {}
    try:
        for *node, snapshot in nodes:
            if node[0] == 'return_value':
                end = 'return ' + text(values[node[4][0]], world)
                break
            try:
                if node[0] == 'leave':
                    raise Exit('leave')
                step(world, values, node, seed)
            except Exit as reason:
                end = f'exit {reason}'
                while snapshot != -1:
                    frame, instruction, snapshot, slots, stack = snapshots[snapshot]
                    end += f' frame {frame} {instruction}'
                    for name in (*frames[frame], -1, *slots, -1, *stack):
                        end += ' -' if name == -1 else ' ' + text(values[name], world)
                break
        return '\n'.join([*world.log, end])
    finally:
        world.is_over = True
        gc.enable()
)";

PyObject* make_machine() {
  const Ref names = Ref::steal(PyDict_New());
  PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
  const Ref done = Ref::steal(PyRun_String(kMachine, Py_file_input, names.get(), names.get()));
  if (!done) {
    PyErr_Print();
    throw std::runtime_error("the machine does not compile");
  }
  return Ref::create(PyDict_GetItemString(names.get(), "run")).release();
}

class Builder {
 public:
  static Ref numbers(const Values& values) {
    Ref list = Ref::steal(PyList_New(0));
    for (const Value value : values) {
      append(list, Ref::steal(PyLong_FromLong(value)));
    }
    return list;
  }
  static void append(const Ref& list, const Ref& item) {
    if (!item || PyList_Append(list.get(), item.get()) < 0) {
      throw std::bad_alloc();
    }
  }
};

Ref nodes_of(const Graph& graph) {
  Ref list = Ref::steal(PyList_New(0));
  for (const Node& node : graph.nodes) {
    Values results(static_cast<std::size_t>(node.result_count));
    std::iota(results.begin(), results.end(), node.first_result);
    const Ref operands = Builder::numbers(node.operands);
    const Ref defined = Builder::numbers(results);
    const std::string sign(operator_text(node.op, node.immediate).value_or(""));
    const std::string name(node.info().name);
    PyObject* object = node.object ? node.object.get() : Py_None;
    Builder::append(
        list, Ref::steal(Py_BuildValue("(sLsOOOi)", name.c_str(), static_cast<long long>(node.immediate), sign.c_str(),
                                       object, operands.get(), defined.get(), node.snapshot)));
  }
  return list;
}

Ref snapshots_of(const Graph& graph) {
  Ref list = Ref::steal(PyList_New(0));
  for (const Snapshot& snapshot : graph.snapshots) {
    const Ref locals = Builder::numbers(snapshot.locals);
    const Ref stack = Builder::numbers(snapshot.stack);
    Builder::append(list, Ref::steal(Py_BuildValue("(iiiOO)", snapshot.frame, snapshot.instruction, snapshot.parent,
                                                   locals.get(), stack.get())));
  }
  return list;
}

Ref frames_of(const Graph& graph) {
  Ref list = Ref::steal(PyList_New(0));
  for (const FrameInfo& frame : graph.frames) {
    Builder::append(list, Ref::steal(Py_BuildValue("(ii)", frame.function, frame.instance)));
  }
  return list;
}

}  // namespace

std::string run_graph(const Graph& graph, int seed) {
  static PyObject* const kRun = make_machine();  // lives as long as the interpreter
  const Ref text = Ref::steal(PyObject_CallFunction(kRun, "OOOi", nodes_of(graph).get(), snapshots_of(graph).get(),
                                                    frames_of(graph).get(), seed));
  if (!text) {
    PyErr_Print();
    throw std::runtime_error("the machine failed");
  }
  return PyUnicode_AsUTF8(text.get());
}

}  // namespace tagalong::replay
