// Names of co_flags and of the kinds of local slots, for the listing and its parser.
#pragma once

#include <Python.h>

#include <array>
#include <string_view>

namespace tagalong::rewriter {

struct NamedBit {
  std::string_view name;
  int bit;
};

inline constexpr std::array<NamedBit, 18> kCodeFlags = {{{"OPTIMIZED", CO_OPTIMIZED},
                                                         {"NEWLOCALS", CO_NEWLOCALS},
                                                         {"VARARGS", CO_VARARGS},
                                                         {"VARKEYWORDS", CO_VARKEYWORDS},
                                                         {"NESTED", CO_NESTED},
                                                         {"GENERATOR", CO_GENERATOR},
                                                         {"COROUTINE", CO_COROUTINE},
                                                         {"ITERABLE_COROUTINE", CO_ITERABLE_COROUTINE},
                                                         {"ASYNC_GENERATOR", CO_ASYNC_GENERATOR},
                                                         {"FUTURE_DIVISION", CO_FUTURE_DIVISION},
                                                         {"FUTURE_ABSOLUTE_IMPORT", CO_FUTURE_ABSOLUTE_IMPORT},
                                                         {"FUTURE_WITH_STATEMENT", CO_FUTURE_WITH_STATEMENT},
                                                         {"FUTURE_PRINT_FUNCTION", CO_FUTURE_PRINT_FUNCTION},
                                                         {"FUTURE_UNICODE_LITERALS", CO_FUTURE_UNICODE_LITERALS},
                                                         {"FUTURE_BARRY_AS_BDFL", CO_FUTURE_BARRY_AS_BDFL},
                                                         {"FUTURE_GENERATOR_STOP", CO_FUTURE_GENERATOR_STOP},
                                                         {"FUTURE_ANNOTATIONS", CO_FUTURE_ANNOTATIONS},
                                                         {"NOFREE", 0x0040}}};

}  // namespace tagalong::rewriter
