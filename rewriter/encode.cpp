#include <algorithm>
#include <cstring>

#include "rewriter/argument_limits.h"
#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/tables.h"

namespace tagalong::rewriter {

namespace {

Ref bytes_from(Bytes bytes) {
  Ref object = Ref::steal(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size())));
  if (!object) {
    throw PythonError();
  }
  return object;
}

bool same_bytes(PyObject* object, Bytes bytes) {
  return static_cast<std::size_t>(PyBytes_GET_SIZE(object)) == bytes.size() &&
         (bytes.empty() || std::memcmp(PyBytes_AS_STRING(object), bytes.data(), bytes.size()) == 0);
}

// The original tuple, if it holds exactly these objects.
template <class Reference>
Ref tuple_from(const std::vector<Reference>& items, PyObject* original) {
  const bool same = static_cast<std::size_t>(PyTuple_GET_SIZE(original)) == items.size() &&
                    std::equal(items.begin(), items.end(), &PyTuple_GET_ITEM(original, 0),
                               [](const Reference& ref, PyObject* object) { return ref.get() == object; });
  if (same) {
    return Ref::create(original);
  }
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  if (!tuple) {
    throw PythonError();
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Ref(items[i]).release());
  }
  return tuple;
}

// One instruction while it is being encoded.
struct Piece {
  std::uint32_t argument;
  std::int32_t offset;  // offset of its first EXTENDED_ARG
  Opcode opcode;        // the opcode for the direction of the jump
  std::uint8_t prefixes;
  std::uint8_t caches;
};

class Encoder {
 public:
  explicit Encoder(const Assembly& assembly)
      : assembly_(assembly), limits_(assembly), pieces_(assembly.instructions.size()) {}

  Encoded run(const EncodeOptions& options) {
    for (int i = 0; i < assembly_.size(); ++i) {
      choose(i);
    }
    place();
    while (widen_jumps()) {
      place();
    }
    check_delegation();
    cpython::CodeParts parts;
    parts.stack_size = stack_size(options);
    parts.code = code();
    parts.exception_table = exception_table();
    parts.line_table = line_table(parts.code.get());
    parts.constants = tuple_from(assembly_.constants, assembly_.origin->co_consts);
    parts.names = tuple_from(assembly_.names, assembly_.origin->co_names);
    Encoded encoded;
    encoded.code = cpython::make_code(assembly_.origin.get(), parts);
    encoded.offsets.reserve(pieces_.size());
    for (const Piece& piece : pieces_) {
      encoded.offsets.push_back(piece.offset + piece.prefixes);
    }
    return encoded;
  }

 private:
  [[nodiscard]] const Instruction& instruction(int index) const {
    return assembly_.instructions[static_cast<std::size_t>(index)];
  }
  Piece& piece(int index) { return pieces_[static_cast<std::size_t>(index)]; }

  void choose(int index) {
    const Instruction& source = instruction(index);
    if (info(source.opcode).jumps() || !limits_.is_certainly_valid(source)) {
      check_instruction(assembly_, index);
    }
    Opcode opcode = source.opcode;
    std::uint8_t prefixes = std::min<std::uint8_t>(source.prefixes, kMostPrefixes);
    if (info(opcode).jumps()) {
      // A jump to the next instruction can be encoded as forward or backward; it keeps its direction.
      const bool fits = info(opcode).backward() ? source.target <= index + 1 : source.target > index;
      if (!fits) {
        if (info(opcode).reversed == 0) {
          refuse("{} at {} cannot go {} to {}", info(opcode).name, index,
                 info(opcode).backward() ? "forward" : "backward", source.target);
        }
        opcode = info(opcode).reversed;
      }
      jumps_.push_back(index);
    } else {
      prefixes = std::max(prefixes, static_cast<std::uint8_t>(prefixes_for(source.arg)));
    }
    piece(index) = {source.arg, 0, opcode, prefixes, info(opcode).caches};
  }

  void place() {
    std::int64_t offset = 0;
    for (Piece& next : pieces_) {
      next.offset = static_cast<std::int32_t>(offset);
      offset += 1 + next.prefixes + next.caches;
      if (offset > kMostUnits) {
        refuse("the code is too long: more than {} code units", kMostUnits);
      }
    }
    size_ = static_cast<int>(offset);
  }

  // Distances depend on sizes and sizes on distances. Sizes only grow, so the loop ends.
  bool widen_jumps() {
    bool grown = false;
    for (const int index : jumps_) {
      Piece& jump = piece(index);
      const int next = jump.offset + jump.prefixes + 1 + jump.caches;
      const int target = piece(instruction(index).target).offset;
      const int distance = info(jump.opcode).backward() ? next - target : target - next;
      jump.argument = static_cast<std::uint32_t>(distance);
      const int needed = prefixes_for(jump.argument);
      if (needed > jump.prefixes) {
        jump.prefixes = static_cast<std::uint8_t>(needed);
        grown = true;
      }
    }
    return grown;
  }

  // generator.throw() reads the jump distance of the SEND in front of a YIELD_VALUE as one byte.
  void check_delegation() const {
    for (std::size_t i = 0; i + 1 < pieces_.size(); ++i) {
      if (pieces_[i].opcode == op::kSEND && pieces_[i].prefixes != 0 && pieces_[i + 1].opcode == op::kYIELD_VALUE) {
        refuse("SEND at {} goes too far: generator.throw() cannot follow {} code units", i, pieces_[i].argument);
      }
    }
  }

  int stack_size(const EncodeOptions& options) const {
    const int needed = options.stack_size >= 0 ? options.stack_size : largest_depth(assembly_, stack_depths(assembly_));
    const std::int64_t size = std::int64_t{std::max(assembly_.stack_size, needed)} + options.extra_stack;
    if (size > cpython::stack_size_limit(assembly_.origin.get())) {
      refuse("a stack of {} values is too large", size);
    }
    return static_cast<int>(size);
  }

  Ref code() const {
    Ref bytes = Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size_) * 2));
    if (!bytes) {
      throw PythonError();
    }
    auto* out = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
    std::memset(out, 0, static_cast<std::size_t>(size_) * 2);  // the inline caches
    for (const Piece& next : pieces_) {
      for (int shift = next.prefixes * 8; shift > 0; shift -= 8) {
        *out++ = op::kEXTENDED_ARG;
        *out++ = static_cast<std::uint8_t>(next.argument >> shift);
      }
      *out++ = static_cast<std::uint8_t>(next.opcode);
      *out++ = static_cast<std::uint8_t>(next.argument);
      out += std::size_t{2} * next.caches;
    }
    return bytes;
  }

  [[nodiscard]] int start_of(int index) const {
    return index == assembly_.size() ? size_ : pieces_[static_cast<std::size_t>(index)].offset;
  }

  Ref exception_table() const {
    std::vector<std::uint8_t> table;
    int covered = 0;
    for (const ExceptionRange& range : assembly_.ranges) {
      if (range.start < covered || range.end <= range.start || range.end > assembly_.size() || range.target < 0 ||
          range.target >= assembly_.size() || range.depth < 0) {
        refuse("exception range {} to {} with handler {} does not fit the code", range.start, range.end, range.target);
      }
      covered = range.end;
      write_exception_entry(
          table, {start_of(range.start), start_of(range.end), start_of(range.target), range.depth, range.lasti});
    }
    return same_bytes(assembly_.origin->co_exceptiontable, table) ? Ref::create(assembly_.origin->co_exceptiontable)
                                                                  : bytes_from(table);
  }

  Ref line_table(PyObject* code) const {
    LineTableWriter writer(assembly_.origin->co_firstlineno, pieces_.size());
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      writer.add(assembly_.instructions[i].position, 1 + pieces_[i].prefixes + pieces_[i].caches);
    }
    PyObject* original = assembly_.origin->co_linetable;
    if (same_bytes(original, writer.bytes()) || original_lines_hold(code)) {
      return Ref::create(original);
    }
    return bytes_from(writer.bytes());
  }

  // Code that CPython's compiler did not make may have other entries that say the same about the same instructions;
  // then its table is kept. If the code itself, with its jumps and caches, is unchanged, no instruction has moved.
  bool original_lines_hold(PyObject* code) const {
    PyCodeObject* origin = assembly_.origin.get();
    if (PyBytes_GET_SIZE(code) / 2 != Py_SIZE(origin)) {
      return false;
    }
    const Assembly original = decode(origin);
    if (original.instructions.size() != assembly_.instructions.size()) {
      return false;
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Instruction& before = original.instructions[i];
      const Instruction& now = assembly_.instructions[i];
      if (before.position != now.position || before.opcode != pieces_[i].opcode || before.arg != now.arg ||
          before.target != now.target || before.prefixes != now.prefixes) {
        return false;
      }
    }
    return true;
  }

  const Assembly& assembly_;
  ArgumentLimits limits_;
  std::vector<Piece> pieces_;
  std::vector<int> jumps_;
  int size_ = 0;
};

}  // namespace

Encoded encode(const Assembly& assembly, const EncodeOptions& options) { return Encoder(assembly).run(options); }

}  // namespace tagalong::rewriter
