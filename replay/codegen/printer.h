// Machine code as text: what it is for, where it lies, its bytes, and its instructions where a disassembler is
// installed. These texts have addresses, so they differ from process to process.
//
//   fmt::print("{}", print_code({address, size, "loop of f"}));
#pragma once

#include <cstddef>
#include <string>

namespace tagalong::replay::native {

struct PlacedCode {
  const void* address = nullptr;
  std::size_t size = 0;
  std::string purpose;
};

// Purpose, address, size, and the bytes, sixteen a line.
[[nodiscard]] std::string dump_code(const PlacedCode& code);
// The instructions, as `objdump` writes them. Empty: there is no such program, or it has failed. Starts a process.
[[nodiscard]] std::string disassemble_code(const PlacedCode& code);
// Both.
[[nodiscard]] std::string print_code(const PlacedCode& code);

// Is told of each piece of code that has been made. Null: nobody asks. Used under the GIL.
using CodeListener = void (*)(const PlacedCode& code);
extern CodeListener code_listener;

}  // namespace tagalong::replay::native
