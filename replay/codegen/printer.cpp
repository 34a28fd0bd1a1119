#include "replay/codegen/printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string_view>

namespace tagalong::replay::native {

CodeListener code_listener = nullptr;

namespace {

std::span<const std::uint8_t> bytes_of(const PlacedCode& code) {
  return {static_cast<const std::uint8_t*>(code.address), code.size};
}

// A temporary file with the code, for one disassembly.
class CodeFile {
 public:
  explicit CodeFile(const PlacedCode& code) {
    const char* folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/tagalong-code-XXXXXX", folder == nullptr ? P_tmpdir : folder);
    const int file = mkstemp(path_.data());
    is_written_ = file >= 0 && write(file, code.address, code.size) == static_cast<ssize_t>(code.size);
    if (file >= 0) {
      close(file);
    }
  }
  CodeFile(const CodeFile&) = delete;
  CodeFile& operator=(const CodeFile&) = delete;
  ~CodeFile() { unlink(path_.c_str()); }

  [[nodiscard]] bool is_written() const { return is_written_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_written_ = false;
};

// Whether the path can be put between single quotes in a shell command.
bool is_quotable(std::string_view path) { return path.find('\'') == std::string_view::npos; }

}  // namespace

std::string dump_code(const PlacedCode& code) {
  constexpr std::size_t kLine = 16;
  std::string text = fmt::format("{}: {} bytes at {}\n", code.purpose, code.size, fmt::ptr(code.address));
  const auto bytes = bytes_of(code);
  for (std::size_t first = 0; first < bytes.size(); first += kLine) {
    text += fmt::format("  {:06x}", first);
    for (const std::uint8_t byte : bytes.subspan(first, std::min(kLine, bytes.size() - first))) {
      fmt::format_to(std::back_inserter(text), " {:02x}", byte);
    }
    text += '\n';
  }
  return text;
}

std::string disassemble_code(const PlacedCode& code) {
  const CodeFile file(code);
  if (!file.is_written() || !is_quotable(file.path())) {
    return {};
  }
  const std::string command = fmt::format(
      "objdump --disassemble-all --target=binary --architecture=i386:x86-64 --disassembler-options=intel "
      "--no-show-raw-insn --adjust-vma={:#x} '{}' 2>/dev/null",
      reinterpret_cast<std::uintptr_t>(code.address), file.path());
  std::FILE* pipe = popen(command.c_str(), "re");  // NOLINT(bugprone-command-processor): the command is ours
  if (pipe == nullptr) {
    return {};
  }
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  if (pclose(pipe) != 0) {
    return {};
  }
  // Skips the lines with the names of file and section.
  const std::size_t first = text.find(">:\n");
  return first == std::string::npos ? std::string() : text.substr(first + 3);
}

std::string print_code(const PlacedCode& code) { return dump_code(code) + disassemble_code(code); }

}  // namespace tagalong::replay::native
