#include <climits>
#include <map>
#include <optional>

#include "rewriter/base/errors.h"
#include "rewriter/code_flags.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/disassemble.h"
#include "rewriter/literal.h"

namespace tagalong::rewriter {

namespace {

// A label as written; resolved when all lines of its code object are known.
struct LabelUse {
  std::int64_t label = 0;
  bool end = false;
};

struct RangeText {
  LabelUse start, until, target;
  int depth = 0;
  bool lasti = false;
  int line = 0;
};

struct CodeText {
  int line = 0;
  cpython::CodeFields fields;
  std::vector<Ref> slot_names;
  std::vector<Ref> names;
  std::vector<Ref> constants;                 // an empty entry is filled with a code object later
  std::map<std::size_t, std::int64_t> inner;  // index of a constant -> number of the code object that it is
  std::vector<Instruction> instructions;
  std::vector<int> lines;  // line of the text for each instruction
  std::map<std::size_t, LabelUse> jumps;
  std::map<std::int64_t, int> labels;
  std::vector<RangeText> ranges;
  int stack = 0;
  bool being_made = false;
  CodeRef made;
};

int small(Cursor& cursor, std::int64_t least = 0) {
  const std::int64_t value = cursor.integer();
  if (value < least || value > INT_MAX / 2) {
    cursor.fail(fmt::format("{} is out of range", value));
  }
  return static_cast<int>(value);
}

LabelUse label_use(Cursor& cursor) {
  if (cursor.skip_word("end")) {
    return {0, true};
  }
  return {cursor.integer(), false};
}

// Accepts LINE, LINE:COLUMN or LINE:COLUMN-LINE:COLUMN, each with ? for unknown.
Position position(Cursor& cursor) {
  if (cursor.skip_word("none")) {
    return kNoPosition;
  }
  const auto number = [&] { return cursor.skip("?") ? -1 : small(cursor); };
  Position result;
  result.line = result.end_line = small(cursor);
  if (cursor.skip(":")) {
    result.column = number();
  }
  if (cursor.skip("-")) {
    result.end_line = number();
    cursor.expect(":");
    result.end_column = number();
  }
  return result;
}

// Reads all lines into CodeTexts.
class Reader {
 public:
  Reader(std::string_view text, Borrowed objects) : text_(text), objects_(objects) {}

  std::map<std::int64_t, CodeText> run() {
    for (int line = 1; !text_.empty(); ++line) {
      const std::size_t end = text_.find('\n');
      Cursor cursor(text_.substr(0, end), line);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      if (!cursor.done() && !cursor.next_is("#")) {
        read(cursor);
        if (!cursor.done()) {
          cursor.fail("there is more than belongs there");
        }
      }
    }
    if (codes_.empty()) {
      refuse("the text holds no code");
    }
    return std::move(codes_);
  }

 private:
  void read(Cursor& cursor) {
    if (cursor.skip_word("code")) {
      const std::int64_t number = cursor.integer();
      const auto [place, is_new] = codes_.try_emplace(number);
      if (!is_new) {
        cursor.fail(fmt::format("code {} comes twice", number));
      }
      code_ = &place->second;
      code_->line = cursor.line();
      code_->fields.name = code_->fields.qualified_name = cursor.string_or_word();
      return;
    }
    if (code_ == nullptr) {
      cursor.fail("the first line must be: code NUMBER NAME");
    }
    if (!read_field(cursor)) {
      read_instruction(cursor);
    }
  }

  bool read_field(Cursor& cursor) {
    cpython::CodeFields& fields = code_->fields;
    const std::pair<std::string_view, int*> numbers[] = {{"first_line", &fields.first_line},
                                                         {"arguments", &fields.arguments},
                                                         {"positional_only", &fields.positional_only},
                                                         {"keyword_only", &fields.keyword_only},
                                                         {"stack", &code_->stack}};
    for (const auto& [name, field] : numbers) {
      if (cursor.skip_word(name)) {
        *field = small(cursor);
        return true;
      }
    }
    if (cursor.skip_word("qualname")) {
      fields.qualified_name = cursor.string_or_word();
    } else if (cursor.skip_word("file")) {
      fields.filename = cursor.string_or_word();
    } else if (cursor.skip_word("flags")) {
      read_flags(cursor);
    } else if (cursor.skip_word("slots")) {
      read_slots(cursor);
    } else if (cursor.skip_word("names")) {
      while (!cursor.done()) {
        code_->names.push_back(cursor.string_or_word());
      }
    } else if (cursor.skip_word("constant")) {
      read_constant(cursor);
    } else if (cursor.skip_word("except")) {
      read_range(cursor);
    } else {
      return false;
    }
    return true;
  }

  void read_flags(Cursor& cursor) {
    while (!cursor.done()) {
      if (cursor.skip("0x")) {
        code_->fields.flags |= read_hexadecimal(cursor);
        continue;
      }
      const std::string_view word = cursor.word();
      int bit = 0;
      for (const NamedBit& flag : kCodeFlags) {
        bit |= flag.name == word ? flag.bit : 0;
      }
      if (bit == 0) {
        cursor.fail(fmt::format("there is no flag {}", word));
      }
      code_->fields.flags |= bit;
    }
  }

  static int read_hexadecimal(Cursor& cursor) {
    const std::string digits(cursor.word());
    std::size_t used = 0;
    unsigned long value = 0;
    try {
      value = std::stoul(digits, &used, 16);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != digits.size() || value > INT_MAX) {
      cursor.fail(fmt::format("0x{} are no flags", digits));
    }
    return static_cast<int>(value);
  }

  void read_slots(Cursor& cursor) {
    while (!cursor.done()) {
      code_->slot_names.push_back(cursor.string_or_word());
      cpython::SlotKind kind = cpython::SlotKind::kLocal;
      if (cursor.skip(":")) {
        if (cursor.skip("local+cell")) {
          kind = cpython::SlotKind::kLocalCell;
        } else if (cursor.skip_word("cell")) {
          kind = cpython::SlotKind::kCell;
        } else {
          cursor.expect("free");
          kind = cpython::SlotKind::kFree;
        }
      }
      code_->fields.slot_kinds.push_back(kind);
    }
  }

  void read_constant(Cursor& cursor) {
    const std::int64_t number = cursor.integer();
    if (number != static_cast<std::int64_t>(code_->constants.size())) {
      cursor.fail(fmt::format("constant {} follows {} others", number, code_->constants.size()));
    }
    Ref constant;
    if (cursor.skip_word("code")) {
      code_->inner[code_->constants.size()] = cursor.integer();
    } else if (cursor.skip_word("object")) {
      const Ref key = cursor.string_or_word();
      constant = objects_ ? Ref::steal(PyObject_GetItem(objects_.get(), key.get())) : Ref();
      if (!constant) {
        PyErr_Clear();
        cursor.fail(fmt::format("constant {} is an object that was not given: {}", number, shown(key.get(), 100)));
      }
    } else {
      constant = cursor.literal();
    }
    code_->constants.push_back(constant);
  }

  void read_range(Cursor& cursor) {
    RangeText range;
    range.line = cursor.line();
    range.start = label_use(cursor);
    cursor.expect("until");
    range.until = label_use(cursor);
    cursor.expect("goes");
    cursor.expect("to");
    range.target = label_use(cursor);
    cursor.expect("depth");
    range.depth = small(cursor);
    range.lasti = cursor.skip_word("lasti");
    code_->ranges.push_back(range);
  }

  void read_instruction(Cursor& cursor) {
    const int index = static_cast<int>(code_->instructions.size());
    std::vector<std::int64_t> numbers;
    while (!cursor.done() && (cursor.next_is(">>") || is_digit_next(cursor))) {
      if (!cursor.skip(">>")) {
        numbers.push_back(cursor.integer());
      }
    }
    if (numbers.size() > 2) {
      cursor.fail("an instruction has at most a line number and a label in front");
    }
    if (!numbers.empty() && !code_->labels.try_emplace(numbers.back(), index).second) {
      cursor.fail(fmt::format("label {} comes twice", numbers.back()));
    }
    Instruction instruction;
    instruction.position = default_position(cursor, numbers);
    const std::string_view name = cursor.word();
    const auto opcode = opcode_by_name(name);
    if (!opcode || info(*opcode).flow == Flow::kImplied) {
      cursor.fail(fmt::format("there is no instruction {}", name));
    }
    instruction.opcode = *opcode;
    read_operand(cursor, instruction);
    if (cursor.skip_word("wide")) {
      instruction.prefixes = static_cast<std::uint8_t>(std::min(small(cursor), 3));
    }
    if (cursor.next_is("(")) {
      cursor.skip_brackets();
    }
    if (cursor.skip("@")) {
      instruction.position = position(cursor);
    }
    code_->instructions.push_back(instruction);
    code_->lines.push_back(cursor.line());
  }

  static bool is_digit_next(Cursor& cursor) {
    for (char digit = '0'; digit <= '9'; ++digit) {
      if (cursor.next_is(std::string_view(&digit, 1))) {
        return true;
      }
    }
    return false;
  }

  Position default_position(Cursor& cursor, const std::vector<std::int64_t>& numbers) const {
    int line = code_->instructions.empty() ? code_->fields.first_line : code_->instructions.back().position.line;
    if (numbers.size() == 2) {
      if (numbers[0] < 0 || numbers[0] > INT_MAX / 2) {
        cursor.fail(fmt::format("line {} is out of range", numbers[0]));
      }
      line = static_cast<int>(numbers[0]);
    }
    return line < 0 ? kNoPosition : Position{line, line, -1, -1};
  }

  void read_operand(Cursor& cursor, Instruction& instruction) {
    const OpcodeInfo& row = info(instruction.opcode);
    if (row.jumps()) {
      cursor.expect("to");
      code_->jumps[code_->instructions.size()] = label_use(cursor);
      return;
    }
    if (cursor.done() || cursor.next_is("(") || cursor.next_is("@") || cursor.next_is("wide")) {
      if (row.argument != Argument::kNone) {
        cursor.fail(fmt::format("{} needs an argument", row.name));
      }
      return;
    }
    if (is_digit_next(cursor)) {
      const std::int64_t argument = cursor.integer();
      if (argument > UINT32_MAX) {
        cursor.fail(fmt::format("argument {} is too large", argument));
      }
      instruction.arg = static_cast<std::uint32_t>(argument);
      return;
    }
    instruction.arg = named_operand(cursor, row);
  }

  // An argument written as the name or operator that it denotes.
  std::uint32_t named_operand(Cursor& cursor, const OpcodeInfo& row) const {
    switch (row.argument) {
      case Argument::kName:
        return index_in(code_->names, cursor);
      case Argument::kNameAndNull:
      case Argument::kNameAndFlags:
        return index_in(code_->names, cursor) << shift_of(row.argument);
      case Argument::kLocal:
      case Argument::kCell:
        return index_in(code_->slot_names, cursor);
      case Argument::kBinaryOperator:
      case Argument::kComparison: {
        const std::string_view wanted = cursor.word();
        for (std::uint32_t i = 0; i < 26; ++i) {
          const bool is_comparison = row.argument == Argument::kComparison;
          const std::uint32_t shift = shift_of(row.argument);
          if (wanted == (is_comparison ? comparison_symbol(i << shift) : binary_operator_symbol(i))) {
            return i << shift | (is_comparison ? version::comparison_flags(i) : 0);
          }
        }
        cursor.fail(fmt::format("{} has no operator {}", row.name, wanted));
      }
      default:
        cursor.fail(fmt::format("{} takes a number", row.name));
    }
  }

  static std::uint32_t index_in(const std::vector<Ref>& names, Cursor& cursor) {
    const Ref wanted = cursor.string_or_word();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (PyUnicode_Compare(names[i].get(), wanted.get()) == 0) {
        return static_cast<std::uint32_t>(i);
      }
    }
    cursor.fail(fmt::format("there is no name {} in this code", shown(wanted.get(), 60)));
  }

  std::string_view text_;
  Borrowed objects_;
  std::map<std::int64_t, CodeText> codes_;
  CodeText* code_ = nullptr;
};

Ref tuple_of(const std::vector<Ref>& items) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  if (!tuple) {
    throw PythonError();
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Ref(items[i]).release());
  }
  return tuple;
}

// Makes code objects from their texts, inner ones first.
class Maker {
 public:
  explicit Maker(std::map<std::int64_t, CodeText> codes) : codes_(std::move(codes)) {}

  CodeRef make(std::int64_t number, int nesting) {
    const auto found = codes_.find(number);
    if (found == codes_.end()) {
      refuse("code {} is a constant but is not in the text", number);
    }
    CodeText& text = found->second;
    if (text.made) {
      return text.made;
    }
    if (text.being_made || nesting > 200) {
      refuse("line {}: code {} contains itself or is nested too deeply", text.line, number);
    }
    text.being_made = true;
    for (const auto& [constant, inner] : text.inner) {
      text.constants[constant] = Ref::steal(reinterpret_cast<PyObject*>(make(inner, nesting + 1).release()));
    }
    text.made = make_one(text);
    return text.made;
  }

  CodeRef run() { return make(codes_.begin()->first, 0); }

 private:
  static CodeRef make_one(CodeText& text) {
    cpython::CodeFields& fields = text.fields;
    fields.slot_names = tuple_of(text.slot_names);
    if (!fields.filename) {
      fields.filename = Ref::steal(PyUnicode_FromString("<assembled>"));
    }
    const std::int64_t arguments = std::int64_t{fields.arguments} + fields.keyword_only +
                                   ((fields.flags & CO_VARARGS) != 0 ? 1 : 0) +
                                   ((fields.flags & CO_VARKEYWORDS) != 0 ? 1 : 0);
    if (arguments > static_cast<std::int64_t>(text.slot_names.size()) || fields.positional_only > fields.arguments) {
      refuse("line {}: {} arguments ({} positional only) do not fit {} slots", text.line, arguments,
             fields.positional_only, text.slot_names.size());
    }
    Assembly assembly;
    assembly.origin = cpython::make_empty_code(fields);
    assembly.constants.assign(text.constants.begin(), text.constants.end());
    assembly.names = text.names;
    assembly.instructions = text.instructions;
    assembly.stack_size = text.stack;
    for (const auto& [index, use] : text.jumps) {
      assembly.instructions[index].target = resolve(text, use, text.lines[index]);
    }
    for (const RangeText& range : text.ranges) {
      assembly.ranges.push_back({resolve(text, range.start, range.line), resolve(text, range.until, range.line),
                                 resolve(text, range.target, range.line), range.depth, range.lasti});
    }
    try {
      return encode(assembly).code;
    } catch (const RewriteError& error) {
      refuse("code at line {}: {}", text.line, error.what());
    }
  }

  static int resolve(const CodeText& text, const LabelUse& use, int line) {
    if (use.end) {
      return static_cast<int>(text.instructions.size());
    }
    const auto found = text.labels.find(use.label);
    if (found == text.labels.end()) {
      refuse("line {}: there is no label {}", line, use.label);
    }
    return found->second;
  }

  std::map<std::int64_t, CodeText> codes_;
};

}  // namespace

CodeRef assemble(std::string_view text, Borrowed objects) { return Maker(Reader(text, objects).run()).run(); }

}  // namespace tagalong::rewriter
