#include "rewriter/stub.h"

#include "rewriter/edit.h"

namespace tagalong::rewriter {

WithEntry insert_entry(const Assembly& assembly, std::vector<Instruction> stub, const EncodeOptions& options) {
  const int resume = first_resume(assembly);
  if (resume < 0 || resume + 1 >= assembly.size()) {
    refuse("there is no place for an entry stub: {}", resume < 0 ? "no RESUME" : "nothing follows RESUME");
  }
  for (Instruction& instruction : stub) {
    instruction.position = kNoPosition;
  }
  const std::size_t length = stub.size();
  const Edited edited = insert(
      assembly, {{.before = resume + 1, .code = std::move(stub), .follows = Follows::kNone, .jumps_see_it = false}});
  const Encoded encoded = encode(edited.assembly, options);
  WithEntry result;
  result.code = encoded.code;
  result.offsets.reserve(edited.index.size());
  for (const int index : edited.index) {
    result.offsets.push_back(encoded.offsets[static_cast<std::size_t>(index)]);
  }
  const auto first = encoded.offsets.begin() + resume + 1;
  result.stub_offsets.assign(first, first + static_cast<std::ptrdiff_t>(length));
  return result;
}

}  // namespace tagalong::rewriter
