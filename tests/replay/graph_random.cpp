// Properties of generated graphs: the text reads back, graphs are valid before and after every pass, optimise() leaves
// nothing to do, and the behaviour on a simple machine does not change.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "graph_generator.h"
#include "graph_machine.h"
#include "replay/ir/parser.h"
#include "replay/ir/printer.h"
#include "replay/ir/verifier.h"
#include "replay/passes/optimise.h"

namespace tagalong::replay {
namespace {

constexpr std::uint32_t kGraphs = 400;

int length_of(std::uint32_t seed) { return 10 + static_cast<int>(seed % 70); }

void require_right(const Graph& graph, const std::string& when) {
  const std::vector<std::string> problems = verify(graph);
  BOOST_REQUIRE_MESSAGE(problems.empty(), fmt::format("{}:\n{}\n{}", when, fmt::join(problems, "\n"), print(graph)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_random)

BOOST_AUTO_TEST_CASE(text_there_and_back) {
  for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
    Graph graph = generate_graph(seed, length_of(seed));
    require_right(graph, fmt::format("generated with {}", seed));
    for (int round = 0; round < 2; ++round) {
      const std::string text = print(graph);
      const Graph again = parse(text, object_table(graph));
      BOOST_REQUIRE_MESSAGE(same_graph(again, graph), text);
      BOOST_REQUIRE_EQUAL(print(again), text);
      optimise(graph);
    }
  }
}

BOOST_AUTO_TEST_CASE(one_word_makes_a_difference) {
  const Graph graph = generate_graph(5, 60);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Graph other = graph;
    other.nodes[i].line += 1;
    BOOST_TEST(!same_graph(other, graph));
    other = graph;
    other.nodes.erase(other.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    BOOST_TEST(!same_graph(other, graph));
  }
}

BOOST_AUTO_TEST_CASE(passes_keep_graphs_right) {
  std::vector<int> changes(passes().size(), 0);
  for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
    Graph all = generate_graph(seed, length_of(seed));
    for (std::size_t i = 0; i < passes().size(); ++i) {
      Graph fresh = generate_graph(seed, length_of(seed));
      const std::string before = print(fresh);
      const bool changed = passes()[i].run(fresh);
      require_right(fresh, fmt::format("{} broke\n{}", passes()[i].name, before));
      BOOST_REQUIRE_EQUAL(changed, print(fresh) != before);
      changes[i] += changed ? 1 : 0;
      static_cast<void>(passes()[i].run(all));
      require_right(all, fmt::format("{}, after those before it", passes()[i].name));
    }
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BOOST_TEST(changes[i] > static_cast<int>(kGraphs) / 10, passes()[i].name);
  }
}

BOOST_AUTO_TEST_CASE(nothing_left_to_do) {
  for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
    Graph graph = generate_graph(seed, length_of(seed));
    optimise(graph);
    const std::string once = print(graph);
    optimise(graph);
    BOOST_REQUIRE_EQUAL(print(graph), once);
  }
}

BOOST_AUTO_TEST_CASE(same_behaviour) {
  int returns = 0;
  int exits = 0;
  int deaths = 0;
  std::size_t before = 0;
  std::size_t after = 0;
  for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = generate_graph(seed, length_of(seed));
    Graph better = graph;
    optimise(better);
    before += graph.nodes.size();
    after += better.nodes.size();
    for (int world = 1; world < 5; ++world) {
      const std::string wanted = run_graph(graph, world);
      const std::string found = run_graph(better, world);
      BOOST_REQUIRE_MESSAGE(wanted == found, fmt::format("seed {}, world {}:\n{}\nis\n{}\nnot\n{}\nin\n{}", seed, world,
                                                         print(graph), found, wanted, print(better)));
      returns += wanted.find("return") != std::string::npos ? 1 : 0;
      exits += wanted.find("exit") != std::string::npos ? 1 : 0;
      deaths += wanted.find("del ") != std::string::npos ? 1 : 0;
    }
  }
  BOOST_TEST_MESSAGE(fmt::format("{} returns, {} exits, {} runs with finalisers, {} nodes became {}", returns, exits,
                                 deaths, before, after));
  BOOST_TEST(returns > static_cast<int>(kGraphs) / 2);
  BOOST_TEST(exits > static_cast<int>(kGraphs) / 2);
  BOOST_TEST(deaths > static_cast<int>(kGraphs) / 2);
  BOOST_TEST(after * 10 < before * 9);
}

BOOST_AUTO_TEST_CASE(time_is_linear) {
  const auto microseconds = [](int nodes) {
    double best = 1e9;
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      Graph graph = generate_graph(seed, nodes);
      const auto start = std::chrono::steady_clock::now();
      optimise(graph);
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  };
  const double small = microseconds(500);
  const double large = microseconds(4000);
  BOOST_TEST_MESSAGE(fmt::format("optimise: 40 nodes {:.0f} us, 500 nodes {:.0f} us, 4000 nodes {:.0f} us",
                                 microseconds(40), small, large));
  BOOST_TEST(large < 40 * small);  // 8 times the nodes; a quadratic pass would take 64 times as long
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
