// Machine code as text: its purpose, address and bytes, and its instructions where a disassembler is installed. The
// texts contain addresses, so they differ between processes.
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

// Prints purpose, address, size, and the bytes, sixteen in a line.
[[nodiscard]] std::string dump_code(const PlacedCode& code);
// Prints the instructions with `objdump`, in a new process. Empty: objdump is missing or has failed.
[[nodiscard]] std::string disassemble_code(const PlacedCode& code);
// Prints dump_code() and disassemble_code().
[[nodiscard]] std::string print_code(const PlacedCode& code);

// Called with each piece of new code if not null. Needs the GIL.
using CodeListener = void (*)(const PlacedCode& code);
extern CodeListener code_listener;

}  // namespace tagalong::replay::native
