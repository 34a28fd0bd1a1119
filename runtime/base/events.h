// Counters for each function and for the process, the sequence of events for tests, and the log.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "recorder/session.h"

namespace tagalong::runtime {

// Why a call of a traced function ran the original instructions. After a first call without enough C stack the function
// is not traced.
enum class LeftOut : std::uint8_t { kWatched, kAllocations, kEvaluation, kStack, kFirstCallStack };
inline constexpr std::array kLeftOutNames = {"watched", "allocations", "evaluation", "stack", "first_call_stack"};
inline constexpr std::array kLeftOutTexts = {
    "a trace or profile function watched (a debugger, a profiler, coverage)",
    "tracemalloc noted where memory was allocated",
    "another evaluation function was installed (PEP 523: torch.compile, a debugger)",
    "too little C stack was left (a thread with a small stack, deep recursion: see threading.stack_size and the limit "
    "`stack`)",
    "too little C stack was left at the first one (a thread with a small stack: see threading.stack_size and "
    "the limit `stack`)"};
static_assert(kLeftOutNames.size() == kLeftOutTexts.size());

struct Counters {
  std::uint64_t records = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t exits = 0;
  std::uint64_t bridges = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t retired = 0;
  std::uint64_t grown = 0;
  std::array<std::uint64_t, 32> stops{};                       // by recorder::Stop
  replay::Reached limits{};                                    // how often each was reached
  std::array<std::uint64_t, kLeftOutNames.size()> left_out{};  // calls, by LeftOut
  // In the totals only: how many functions were recorded at least once, and replayed at least once.
  std::uint64_t functions_recorded = 0;
  std::uint64_t functions_replayed = 0;
  std::uint64_t functions_freed = 0;                                     // explain() cannot describe them any more
  std::array<std::uint64_t, kLeftOutNames.size()> functions_left_out{};  // by LeftOut, with at least one such call
};

Counters& totals();

enum class Event : std::uint8_t { kRecord, kBridge, kHit, kTraceLink, kMiss, kExit, kRetire, kGrow };
void count(Counters& counters, Event event);
void count_stop(Counters& counters, recorder::Stop stop);
void count_left_out(Counters& counters, LeftOut reason);
// Counts a function that is not traced because of the C stack that was left when it was first called.
void count_first_call_left_out();
// A sentence for each LeftOut that has happened in the process.
std::vector<std::string> left_out_texts();
void count_limit(Counters& counters, replay::Limit limit, std::uint64_t times = 1);

void start_events();
std::vector<std::string> stop_events();

enum class Topic : std::uint8_t { kRecord, kGraph, kGuards, kReplay, kExits, kCache, kSteps, kLoops, kKernels, kCode };
// Topic names as in TAGALONG_LOG ("all" for each); unknown names are ignored here, the options table refuses them.
void set_log(const std::vector<std::string>& topics);
bool is_logged(Topic topic);
void log(Topic topic, const std::string& text);
// From now on logs the last fusion group that a quota allows (replay/ir/stages.h).
void log_last_group();

}  // namespace tagalong::runtime
