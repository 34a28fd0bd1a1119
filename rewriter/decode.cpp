#include <algorithm>
#include <climits>
#include <vector>

#include "rewriter/argument_limits.h"
#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/tables.h"

namespace tagalong::rewriter {

namespace {

Bytes bytes_of(PyObject* object, const char* what) {
  if (object == nullptr || PyBytes_Check(object) == 0) {
    refuse("{} is not a bytes object", what);
  }
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(object)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
}

template <class Reference, class Reading>
std::vector<Reference> items_of(PyObject* tuple, const char* what, Reading read) {
  if (tuple == nullptr || PyTuple_Check(tuple) == 0) {
    refuse("{} is not a tuple", what);
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  std::vector<Reference> items;
  items.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    items.push_back(read(PyTuple_GET_ITEM(tuple, i)));
  }
  return items;
}

// The origin keeps its constants alive, except code objects, which are replaced by other ones.
cpython::KeptRef constant_of_origin(PyObject* object) {
  const bool is_kept = object != nullptr && !PyCode_Check(object);
  return is_kept ? cpython::KeptRef::uncounted(object) : cpython::KeptRef(Ref::create(object));
}

class Decoder {
 public:
  explicit Decoder(PyCodeObject* code)
      : code_(code),
        units_(cpython::compiled_units(code)),
        lines_(bytes_of(code->co_linetable, "co_linetable"), code->co_firstlineno),
        index_of_unit_(units_.size() + 1, -1) {
    if (units_.size() > std::size_t{kMostUnits}) {
      refuse("the code is too long: {} code units", units_.size());
    }
    if (code->co_firstlineno < 0) {
      refuse("the first line number {} is negative", code->co_firstlineno);
    }
  }

  Assembly run() {
    assembly_.origin = CodeRef::create(code_);
    assembly_.stack_size = cpython::compiled_stack_size(code_);
    if (assembly_.stack_size < 0 || assembly_.stack_size > cpython::stack_size_limit(code_)) {
      refuse("the stack size {} is out of range", assembly_.stack_size);
    }
    assembly_.constants = items_of<cpython::KeptRef>(code_->co_consts, "co_consts", constant_of_origin);
    assembly_.constants.resize(static_cast<std::size_t>(cpython::compiled_constant_count(code_)));
    assembly_.names = items_of<Ref>(code_->co_names, "co_names", Ref::create);
    assembly_.instructions.reserve(units_.size());
    read_instructions();
    index_of_unit_[units_.size()] = assembly_.size();
    resolve_jumps();
    read_ranges();
    return std::move(assembly_);
  }

 private:
  void read_instructions() {
    const ArgumentLimits limits(assembly_);
    const std::size_t size = units_.size();
    std::size_t unit = 0;
    while (unit < size) {
      index_of_unit_[unit] = assembly_.size();
      Instruction instruction;
      std::uint32_t argument = 0;
      int prefixes = 0;
      Opcode opcode = base_opcode(unit);
      while (opcode == op::kEXTENDED_ARG) {
        if (++prefixes > kMostPrefixes) {
          refuse("more than {} EXTENDED_ARGs at code unit {}", kMostPrefixes, unit);
        }
        argument = (argument | argument_in(units_[unit])) << 8;
        if (++unit == size) {
          refuse("the code ends with EXTENDED_ARG");
        }
        opcode = base_opcode(unit);
      }
      argument |= argument_in(units_[unit]);
      const OpcodeInfo& row = info(opcode);
      if (row.flow == Flow::kImplied) {
        refuse("{} where an instruction should be, at code unit {}", row.name, unit);
      }
      if (size - unit <= row.caches) {
        refuse("the inline cache of {} at code unit {} is cut off", row.name, unit);
      }
      instruction.opcode = opcode;
      instruction.position = lines_.at(static_cast<int>(unit));
      // The way back goes over the jump's own prefixes, and might be short enough without them.
      const std::uint32_t least =
          row.backward() ? argument - std::min(argument, static_cast<std::uint32_t>(prefixes)) : argument;
      instruction.prefixes = prefixes > prefixes_for(least) ? static_cast<std::uint8_t>(prefixes) : 0;
      unit += 1U + row.caches;
      if (row.jumps()) {
        jumps_.push_back({assembly_.size(), static_cast<std::int64_t>(unit) +
                                                (row.backward() ? -std::int64_t{argument} : std::int64_t{argument})});
      } else {
        instruction.arg = argument;
      }
      assembly_.instructions.push_back(instruction);
      if (!row.jumps() && !limits.is_certainly_valid(instruction)) {
        check_instruction(assembly_, assembly_.size() - 1);
      }
    }
  }

  Opcode base_opcode(std::size_t unit) const {
    const Opcode opcode = info(opcode_in(units_[unit])).base;
    if (opcode == 0) {
      if (opcode_in(units_[unit]) == op::kCACHE) {
        return opcode;
      }
      refuse("unknown opcode {} at code unit {}", opcode_in(units_[unit]), unit);
    }
    return opcode;
  }

  // Index of the instruction that starts at a code unit; with `end`, the end of the code is allowed as well.
  int index_at(std::int64_t unit, bool end, const char* what) const {
    if (unit < 0 || unit > static_cast<std::int64_t>(units_.size()) - (end ? 0 : 1)) {
      refuse("{} code unit {}, outside of the code", what, unit);
    }
    const int index = index_of_unit_[static_cast<std::size_t>(unit)];
    if (index < 0) {
      refuse("{} code unit {}, in the middle of an instruction", what, unit);
    }
    return index;
  }

  void resolve_jumps() {
    for (const auto& [index, unit] : jumps_) {
      assembly_.instructions[static_cast<std::size_t>(index)].target = index_at(unit, false, "a jump goes to");
    }
  }

  void read_ranges() {
    for (const UnitRange& range : read_exception_table(bytes_of(code_->co_exceptiontable, "co_exceptiontable"))) {
      assembly_.ranges.push_back({index_at(range.start, false, "an exception range starts at"),
                                  index_at(range.end, true, "an exception range ends at"),
                                  index_at(range.target, false, "an exception handler is at"), range.depth,
                                  range.lasti});
    }
  }

  struct Jump {
    int index;
    std::int64_t unit;
  };

  PyCodeObject* code_;
  std::vector<std::uint16_t> units_;
  LineTableReader lines_;
  std::vector<int> index_of_unit_;
  std::vector<Jump> jumps_;
  Assembly assembly_;
};

}  // namespace

void check_instruction(const Assembly& assembly, int index) {
  const Instruction& instruction = assembly.instructions[static_cast<std::size_t>(index)];
  const OpcodeInfo& row = info(instruction.opcode);
  if (!row.known() || row.flow == Flow::kImplied) {
    refuse("instruction {} has opcode {}, which cannot be used", index, instruction.opcode);
  }
  if (row.jumps()) {
    if (instruction.target < 0 || instruction.target >= assembly.size()) {
      refuse("{} at {} goes to instruction {}, outside of the code", row.name, index, instruction.target);
    }
    return;
  }
  if (row.argument == Argument::kTwoLocals) {
    const auto slots = static_cast<std::uint32_t>(assembly.origin->co_nlocalsplus);
    if (instruction.arg > UINT8_MAX || instruction.arg >> 4U >= slots || (instruction.arg & 0xFU) >= slots) {
      refuse("argument {} of {} at {} is out of range", instruction.arg, row.name, index);
    }
    return;
  }
  if (!ArgumentLimits(assembly).holds(row.argument, instruction.arg)) {
    refuse("argument {} of {} at {} is out of range", instruction.arg, row.name, index);
  }
  if (row.argument == Argument::kCell && !cpython::is_cell_slot(assembly.origin.get(), instruction.arg)) {
    refuse("{} at {} names local slot {}, which is not a cell", row.name, index, instruction.arg);
  }
}

Assembly decode(PyCodeObject* code) { return Decoder(code).run(); }

namespace {

template <class Reference>
int index_of(std::vector<Reference>& objects, const Ref& object) {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const Reference& r) { return r.get() == object.get(); });
  if (found == objects.end()) {
    objects.push_back(object);
    return static_cast<int>(objects.size()) - 1;
  }
  return static_cast<int>(found - objects.begin());
}

}  // namespace

int add_constant(Assembly& assembly, const Ref& object) { return index_of(assembly.constants, object); }
int add_name(Assembly& assembly, const Ref& name) { return index_of(assembly.names, name); }

std::vector<bool> Assembly::arrivals() const {
  std::vector<bool> arrives(instructions.size());
  for (const Instruction& instruction : instructions) {
    if (instruction.target >= 0) {
      arrives[static_cast<std::size_t>(instruction.target)] = true;
    }
  }
  for (const ExceptionRange& range : ranges) {
    arrives[static_cast<std::size_t>(range.target)] = true;
  }
  return arrives;
}

int start_of_call(const Assembly& assembly, int call) {
  const auto is = [&](int index, Opcode opcode) {
    return index >= 0 && assembly.instructions[static_cast<std::size_t>(index)].opcode == opcode;
  };
  int start = call;
  if (is(call, op::kCALL) || is(call, op::kPRECALL)) {
    start -= is(start - 1, op::kPRECALL) ? 1 : 0;
    start -= is(start - 1, op::kKW_NAMES) ? 1 : 0;
  }
  return start;
}

int names_of_call(const Assembly& assembly, int call) {
  const auto is = [&](int index, Opcode opcode) {
    return index >= 0 && assembly.instructions[static_cast<std::size_t>(index)].opcode == opcode;
  };
  const int names = is(call, op::kCALL_KW) ? call - 1 : start_of_call(assembly, call);
  return is(names, is(call, op::kCALL_KW) ? op::kLOAD_CONST : op::kKW_NAMES) ? names : -1;
}

int first_resume(const Assembly& assembly) {
  for (int i = 0; i < assembly.size(); ++i) {
    if (assembly.instructions[static_cast<std::size_t>(i)].opcode == op::kRESUME) {
      return i;
    }
  }
  return -1;
}

}  // namespace tagalong::rewriter
