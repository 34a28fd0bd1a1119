#include "rewriter/disassemble.h"

#include <algorithm>
#include <iterator>

#include "rewriter/base/errors.h"
#include "rewriter/code_flags.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/literal.h"

namespace tagalong::rewriter {

namespace {

constexpr std::size_t kShown = 60;

template <class... Arguments>
void add(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

class Listing {
 public:
  std::string run(PyCodeObject* code) {
    codes_.push_back(code);
    for (std::size_t number = 0; number < codes_.size(); ++number) {
      text_ += number != 0 ? "\n" : "";
      list(number);
    }
    return std::move(text_);
  }

 private:
  void list(std::size_t number) {
    PyCodeObject* code = codes_[number];
    const Assembly assembly = decode(code);
    const std::vector<int> offsets = encode(assembly, {.stack_size = 0}).offsets;
    add(text_, "code {} {}\n", number, word_text(code->co_name));
    add(text_, "  qualname {}\n  file {}\n", word_text(code->co_qualname), shown(code->co_filename, std::string::npos));
    add(text_, "  first_line {}\n  arguments {}\n", code->co_firstlineno, code->co_argcount);
    if (code->co_posonlyargcount != 0) {
      add(text_, "  positional_only {}\n", code->co_posonlyargcount);
    }
    if (code->co_kwonlyargcount != 0) {
      add(text_, "  keyword_only {}\n", code->co_kwonlyargcount);
    }
    add(text_, "  stack {}\n", cpython::compiled_stack_size(code));
    add_flags(code->co_flags);
    add_slots(code);
    add_names(assembly);
    add_constants(assembly);
    add_instructions(assembly, offsets);
    for (const ExceptionRange& range : assembly.ranges) {
      add(text_, "  except {} until {} goes to {} depth {}{}\n", label(range.start, offsets), label(range.end, offsets),
          label(range.target, offsets), range.depth, range.lasti ? " lasti" : "");
    }
  }

  static std::string label(int index, const std::vector<int>& offsets) {
    return static_cast<std::size_t>(index) < offsets.size()
               ? std::to_string(2 * offsets[static_cast<std::size_t>(index)])
               : "end";
  }

  void add_flags(int flags) {
    text_ += "  flags";
    for (const NamedBit& flag : kCodeFlags) {
      if ((flags & flag.bit) != 0) {
        add(text_, " {}", flag.name);
        flags &= ~flag.bit;
      }
    }
    if (flags != 0) {
      add(text_, " {:#x}", static_cast<unsigned>(flags));
    }
    text_ += '\n';
  }

  void add_slots(PyCodeObject* code) {
    if (code->co_nlocalsplus == 0) {
      return;
    }
    text_ += "  slots";
    for (int slot = 0; slot < code->co_nlocalsplus; ++slot) {
      add(text_, " {}", word_text(PyTuple_GET_ITEM(code->co_localsplusnames, slot)));
      switch (cpython::slot_kind(code, slot)) {
        case cpython::SlotKind::kLocal:
          break;
        case cpython::SlotKind::kCell:
          text_ += ":cell";
          break;
        case cpython::SlotKind::kFree:
          text_ += ":free";
          break;
        case cpython::SlotKind::kLocalCell:
          text_ += ":local+cell";
          break;
      }
    }
    text_ += '\n';
  }

  void add_names(const Assembly& assembly) {
    if (assembly.names.empty()) {
      return;
    }
    text_ += "  names";
    for (const Ref& name : assembly.names) {
      add(text_, " {}", word_text(name.get()));
    }
    text_ += '\n';
  }

  void add_constants(const Assembly& assembly) {
    for (std::size_t i = 0; i < assembly.constants.size(); ++i) {
      PyObject* constant = assembly.constants[i].get();
      if (PyCode_Check(constant) != 0) {
        add(text_, "  constant {} code {}\n", i, number_of(reinterpret_cast<PyCodeObject*>(constant)));
      } else if (const auto literal = literal_text(constant)) {
        add(text_, "  constant {} {}\n", i, *literal);
      } else {
        const std::string look = shown(constant, std::string::npos);
        const Ref as_object =
            Ref::steal(PyUnicode_FromStringAndSize(look.data(), static_cast<Py_ssize_t>(look.size())));
        if (!as_object) {
          throw PythonError();
        }
        add(text_, "  constant {} object {}\n", i, shown(as_object.get(), std::string::npos));
      }
    }
  }

  std::size_t number_of(PyCodeObject* code) {
    const auto known = std::ranges::find(codes_, code);
    if (known != codes_.end()) {
      return static_cast<std::size_t>(known - codes_.begin());
    }
    codes_.push_back(code);
    return codes_.size() - 1;
  }

  void add_instructions(const Assembly& assembly, const std::vector<int>& offsets) {
    const std::vector<bool> is_target = assembly.arrivals();
    int line = -1;
    for (std::size_t i = 0; i < assembly.instructions.size(); ++i) {
      const Instruction& instruction = assembly.instructions[i];
      const Position& position = instruction.position;
      const bool new_line = position.line >= 0 && position.line != line;
      line = new_line ? position.line : line;
      std::string row = fmt::format("  {:>5} {} {:>5} {}", new_line ? std::to_string(line) : "",
                                    is_target[i] ? ">>" : "  ", 2 * offsets[i], info(instruction.opcode).name);
      const std::string operand = operand_of(assembly, instruction, offsets);
      if (!operand.empty()) {
        row = fmt::format("{:<44} {}", row, operand);
      }
      add(text_, "{:<76} @ {}\n", row, position_text(position));
    }
  }

  static std::string position_text(const Position& position) {
    if (position.line < 0) {
      return "none";
    }
    const auto number = [](int value) { return value < 0 ? std::string("?") : std::to_string(value); };
    return fmt::format("{}:{}-{}:{}", position.line, number(position.column), number(position.end_line),
                       number(position.end_column));
  }

  static std::string operand_of(const Assembly& assembly, const Instruction& instruction,
                                const std::vector<int>& offsets) {
    const OpcodeInfo& row = info(instruction.opcode);
    std::string text;
    if (row.jumps()) {
      text = "to " + label(instruction.target, offsets);
    } else if (row.argument != Argument::kNone || instruction.arg != 0) {
      text = std::to_string(instruction.arg);
    }
    if (instruction.prefixes != 0) {
      add(text, " wide {}", instruction.prefixes);
    }
    const std::string meaning = meaning_of(assembly, instruction);
    if (!meaning.empty()) {
      add(text, " ({})", meaning);
    }
    return text;
  }

  static std::string slot_text(const Assembly& assembly, std::uint32_t slot) {
    return word_text(PyTuple_GET_ITEM(assembly.origin->co_localsplusnames, static_cast<Py_ssize_t>(slot)));
  }

  // The text in brackets. Objects without a literal are quoted, so brackets and quotes always match.
  static std::string meaning_of(const Assembly& assembly, const Instruction& instruction) {
    const std::uint32_t argument = instruction.arg;
    switch (info(instruction.opcode).argument) {
      case Argument::kConstant: {
        PyObject* constant = assembly.constants[argument].get();
        if (PyCode_Check(constant) != 0) {
          return "code " + word_text(reinterpret_cast<PyCodeObject*>(constant)->co_qualname);
        }
        const auto literal = literal_text(constant);
        if (literal && literal->size() <= kShown) {
          return *literal;
        }
        std::string look = shown(constant, kShown);
        std::ranges::replace_if(
            look, [](char c) { return c == '(' || c == ')' || c == '"' || c == '\'' || c == '\\'; }, '`');
        return look;
      }
      case Argument::kName:
        return word_text(assembly.names[argument].get());
      case Argument::kNameAndNull:
      case Argument::kNameAndFlags: {
        const char* second = instruction.opcode == op::kLOAD_GLOBAL ? "NULL + " : "method + ";
        return ((argument & 1) != 0 ? second : "") +
               word_text(assembly.names[index_of(instruction.opcode, argument)].get());
      }
      case Argument::kLocal:
      case Argument::kCell:
        return slot_text(assembly, argument);
      case Argument::kTwoLocals:
        return slot_text(assembly, argument >> 4U) + ", " + slot_text(assembly, argument & 0xFU);
      case Argument::kBinaryOperator:
        return std::string(binary_operator_symbol(argument));
      case Argument::kComparison:
        return std::string(comparison_symbol(argument));
      case Argument::kNone:
      case Argument::kInteger:
      case Argument::kForward:
      case Argument::kBackward:
        break;
    }
    return {};
  }

  std::string text_;
  std::vector<PyCodeObject*> codes_;
};

}  // namespace

std::string disassemble(PyCodeObject* code) { return Listing().run(code); }

}  // namespace tagalong::rewriter
