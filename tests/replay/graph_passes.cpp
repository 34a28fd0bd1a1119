// Each pass on a few lines of graph text. The input graph must be valid, and so must the result.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "replay/ir/parser.h"
#include "replay/ir/printer.h"
#include "replay/ir/verifier.h"
#include "replay/passes/compact.h"
#include "replay/passes/cse.h"
#include "replay/passes/dce.h"
#include "replay/passes/drops.h"
#include "replay/passes/fold.h"
#include "replay/passes/groups.h"
#include "replay/passes/guards.h"
#include "replay/passes/optimise.h"

namespace tagalong::replay {
namespace {

constexpr const char* kTail = R"(
frame 0: -
snapshot 0: frame 0, instruction 1, locals [], stack []
snapshot 1: frame 0, instruction 2, locals [], stack [%1]
)";

std::string nodes_of(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    text += print_node(graph, i) + "\n";
  }
  return text;
}

// If `after` is empty, the pass must not change anything. A text without a frame gets kTail.
Graph check(bool (*pass)(Graph&), std::string before, const std::string& after, const std::vector<Ref>& objects = {}) {
  if (before.find("frame 0") == std::string::npos) {
    before += kTail;
  }
  Graph graph = parse(before, objects);
  BOOST_TEST(verify(graph) == std::vector<std::string>{}, boost::test_tools::per_element());
  const std::string unchanged = nodes_of(graph);
  const bool changed = pass(graph);
  BOOST_TEST(verify(graph) == std::vector<std::string>{}, boost::test_tools::per_element());
  BOOST_TEST(nodes_of(graph) == (after.empty() ? unchanged : nodes_of(parse(after, objects))));
  BOOST_TEST(changed == !after.empty());
  BOOST_TEST(!pass(graph), "a second time changes something: " << before);
  return graph;
}

void unchanged(bool (*pass)(Graph&), const std::string& text, const std::vector<Ref>& objects = {}) {
  check(pass, text, "", objects);
}

// [0] an instance of a class made by Python code, [1] its class, [2] a function
std::vector<Ref> python_objects() {
  const Ref names = Ref::steal(PyDict_New());
  PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
  const Ref done =
      Ref::steal(PyRun_String("class C: pass\nc = C()\ndef f(): pass\n", Py_file_input, names.get(), names.get()));
  BOOST_REQUIRE(done);
  std::vector<Ref> objects;
  for (const char* name : {"c", "C", "f"}) {
    objects.push_back(Ref::create(PyDict_GetItemString(names.get(), name)));
  }
  return objects;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_passes)

BOOST_AUTO_TEST_CASE(fold_operations) {
  check(fold, R"(
    %0 = constant{7}
    %1 = constant{2}
    %2 = int_binary[+] %0, %1 @0
    %3 = float_binary[/] %2, %1 @0
    %4 = int_compare[<] %1, %0
    %5 = bool_not %4
    %6 = number_truth %3
    %7 = unary_op[-] %3 @0
    drop %2
    %8 = build_tuple %3, %5, %6, %7
    return_value %8)",
        R"(
    %0 = constant{7}
    %1 = constant{2}
    %9 = constant{9}
    %10 = constant{4.5}
    %11 = constant{True}
    %12 = constant{False}
    %13 = constant{-4.5}
    %8 = build_tuple %10, %12, %11, %13
    return_value %8)");
}

BOOST_AUTO_TEST_CASE(fold_keeps_operations_that_raise_or_grow) {
  unchanged(fold, R"(
    %0 = constant{inf}
    %1 = float_binary[-] %0, %0 @0
    return_value %1)");
  unchanged(fold, R"(
    %0 = constant{7}
    %1 = constant{0}
    %2 = int_binary[//] %0, %1 @0
    %3 = constant{1000}
    %4 = int_binary[<<] %0, %3 @0
    %5 = int_binary[**] %0, %3 @0
    %6 = constant{'text'}
    %7 = binary_op[%] %6, %0 @0
    %8 = constant{0xffffffffffffffffffffffffffffffff}
    %9 = int_binary[*] %8, %0 @0
    %10 = build_list %2, %4, %5, %7, %9
    return_value %10)");
}

BOOST_AUTO_TEST_CASE(fold_under_guards) {
  // The guard itself uses snapshot 0, where the value may be another one. The drop releases the value.
  const Graph graph = check(fold, R"(
    %0 = param[0]
    guard_is{5} %0 @0
    guard_type{<class 'int'>} %0 @0
    guard_is_not{None} %0 @1
    %1 = int_binary[*] %0, %0 @1
    %2 = to_bool %1 @1
    guard_true %2 @2
    drop %0
    leave @3
frame 0: -
snapshot 0: frame 0, instruction 1, locals [%0], stack []
snapshot 1: frame 0, instruction 2, locals [%0], stack []
snapshot 2: frame 0, instruction 3, locals [-], stack [%2]
snapshot 3: frame 0, instruction 4, locals [-], stack [%1]
)",
                            R"(
    %0 = param[0]
    guard_is{5} %0 @0
    %3 = constant{5}
    %4 = constant{25}
    %5 = constant{True}
    drop %0
    leave @3)");
  BOOST_TEST(graph.snapshots[0].locals[0] == 0);
  BOOST_TEST(graph.snapshots[3].stack[0] == 4);
}

BOOST_AUTO_TEST_CASE(fold_outcome_of_a_branch) {
  check(fold, R"(
    %0 = param[0]
    %1 = to_bool %0 @0
    guard_false %1 @1
    %2 = bool_not %1
    guard_true %2 @1
    %3 = is_op[is] %1, %1
    %4 = build_tuple %1, %3
    return_value %4)",
        R"(
    %0 = param[0]
    %1 = to_bool %0 @0
    guard_false %1 @1
    %5 = constant{False}
    %6 = constant{True}
    %4 = build_tuple %5, %6
    return_value %4)");
}

BOOST_AUTO_TEST_CASE(fold_types_of_constants) {
  // The class of an instance may have changed when the graph runs, so its guard is kept.
  check(fold, R"(
    %0 = constant{1.5}
    %1 = constant{<#0>}
    guard_type{<class 'float'>} %0 @0
    guard_type{<#1>} %1 @0
    guard_type{<class 'int'>} %0 @0
    leave @0)",
        R"(
    %0 = constant{1.5}
    %1 = constant{<#0>}
    guard_type{<#1>} %1 @0
    guard_type{<class 'int'>} %0 @0
    leave @0)",
        python_objects());
}

BOOST_AUTO_TEST_CASE(merge_pure_nodes) {
  check(merge_common, R"(
    %0 = param[0]
    %1 = param[1]
    %2 = float_binary[*] %0, %1 @0
    %3 = call{None} %0, %1 @0
    %4 = float_binary[*] %0, %1 @0
    %5 = float_binary[*] %1, %0 @0
    %6 = float_binary[+] %2, %4 @0
    %7 = float_binary[+] %4, %2 @0
    %8 = build_tuple %6, %7, %5
    return_value %8)",
        R"(
    %0 = param[0]
    %1 = param[1]
    %2 = float_binary[*] %0, %1 @0
    %3 = call{None} %0, %1 @0
    %5 = float_binary[*] %1, %0 @0
    %6 = float_binary[+] %2, %2 @0
    %7 = float_binary[+] %2, %2 @0
    %8 = build_tuple %6, %7, %5
    return_value %8)");
}

// The first one has no result; the second one may have one.
BOOST_AUTO_TEST_CASE(merge_and_fold_keep_nodes_that_raised) {
  constexpr const char* kRaises = R"(
    %0 = param[0]
    %1 = int_binary[//] %0, %0 @0
    guard_raised @0
    drop %1
    %2 = catch_exception @0
    drop %2
    %3 = int_binary[//] %0, %0 @0
    return_value %3)";
  unchanged(merge_common, kRaises);
  unchanged(fold, kRaises);
  unchanged(drop_known_guards, kRaises);
  unchanged(remove_dead, kRaises);
}

BOOST_AUTO_TEST_CASE(merge_numbers_that_are_not_compared) {
  // %3, in a snapshot, and %4, in a tuple, may be compared by identity; %1 and %2 are only added.
  const Graph graph = check(merge_common, R"(
    %0 = param[0]
    %1 = float_binary[-] %0, %0 @0
    %2 = float_binary[-] %0, %0 @0
    %3 = float_binary[-] %0, %0 @0
    %4 = float_binary[-] %0, %0 @0
    %5 = float_binary[+] %1, %2 @1
    %6 = build_tuple %4, %5
    return_value %6
frame 0: -
snapshot 0: frame 0, instruction 1, locals [], stack []
snapshot 1: frame 0, instruction 2, locals [], stack [%3]
)",
                            R"(
    %0 = param[0]
    %1 = float_binary[-] %0, %0 @0
    %4 = float_binary[-] %0, %0 @0
    %5 = float_binary[+] %1, %1 @1
    %6 = build_tuple %4, %5
    return_value %6)");
  BOOST_TEST(graph.snapshots[1].stack[0] == 1);
}

BOOST_AUTO_TEST_CASE(merge_keeps_values_that_are_never_dropped) {
  check(merge_common, R"(
    %0 = function
    %1 = load_global{'x'} %0 @0
    %2 = load_global{'x'} %0 @0
    %3 = load_global{'y'} %0 @0
    %4 = load_global{'y'} %0 @0
    %5 = build_list %1, %2, %3, %4
    drop %2, %3
    return_value %5)",
        R"(
    %0 = function
    %1 = load_global{'x'} %0 @0
    %3 = load_global{'y'} %0 @0
    %5 = build_list %1, %1, %3, %3
    return_value %5)");
}

BOOST_AUTO_TEST_CASE(drops_that_may_run_code) {
  // An item of a list may have a finaliser, which may rebind the global.
  unchanged(merge_common, R"(
    %0 = function
    %1 = build_list %0
    %2 = load_global{'x'} %0 @0
    drop %1
    %3 = load_global{'x'} %0 @0
    %4 = build_list %2, %3
    return_value %4)");
}

BOOST_AUTO_TEST_CASE(merge_reads_up_to_an_effect) {
  check(merge_common, R"(
    %0 = function
    %1 = load_global{'x'} %0 @0
    %2 = load_global{'x'} %0 @0
    %3 = load_global{'y'} %0 @0
    %4 = call{None} %1, %2 @0
    %5 = load_global{'x'} %0 @0
    drop %5
    %6 = load_global{'x'} %0 @0
    %7 = build_list %4, %6
    %8 = build_list %4, %6
    return_value %7)",
        R"(
    %0 = function
    %1 = load_global{'x'} %0 @0
    %3 = load_global{'y'} %0 @0
    %4 = call{None} %1, %1 @0
    %5 = load_global{'x'} %0 @0
    drop %5
    %6 = load_global{'x'} %0 @0
    %7 = build_list %4, %6
    %8 = build_list %4, %6
    return_value %7)");
}

BOOST_AUTO_TEST_CASE(merge_reads_across_harmless_drops) {
  const Graph graph = check(merge_common, R"(
    %0 = function
    %1, %2 = load_module_method{'sqrt'} %0 @0
    guard_type{<class 'float'>} %1 @0
    drop %1
    %3, %4 = load_module_method{'sqrt'} %0 @0
    guard_is_not{None} %3 @1
    drop %2
    drop %3
    return_value %4
frame 0: -
snapshot 0: frame 0, instruction 1, locals [], stack []
snapshot 1: frame 0, instruction 2, locals [], stack [%3, %4]
)",
                            R"(
    %0 = function
    %1, %2 = load_module_method{'sqrt'} %0 @0
    guard_type{<class 'float'>} %1 @0
    guard_is_not{None} %1 @1
    drop %1
    return_value %2)");
  BOOST_TEST((graph.snapshots[1].stack == Values{1, 2}));
}

BOOST_AUTO_TEST_CASE(merge_keeps_the_last_drop) {
  check(merge_common, R"(
    %0 = param[0]
    %1 = method_self %0
    drop %1
    %2 = method_self %0
    %3 = method_self %0
    drop %2, %3
    return_value %0)",
        R"(
    %0 = param[0]
    %1 = method_self %0
    drop %1
    return_value %0)");
}

BOOST_AUTO_TEST_CASE(dead_nodes) {
  check(remove_dead, R"(
    %0 = param[0]
    %1 = constant{1}
    %2 = float_binary[+] %0, %1 @0
    %3 = float_binary[/] %0, %1 @0
    %4 = is_op[is] %0, %1
    %5 = bool_not %4
    %6 = build_tuple %0, %1
    %7 = build_tuple %6
    %8 = to_bool %0 @0
    drop %2, %7
    return_value %0)",
        R"(
    %0 = param[0]
    %1 = constant{1}
    %3 = float_binary[/] %0, %1 @0
    %8 = to_bool %0 @0
    return_value %0)");
}

BOOST_AUTO_TEST_CASE(snapshots_keep_nodes) {
  check(remove_dead, R"(
    %0 = param[0]
    %1 = constant{1}
    %2 = is_op[is] %0, %1
    %3 = bool_not %2
    %4 = build_tuple %3
    %5 = build_tuple %4
    guard_true %0 @1
    drop %3, %4, %5
    return_value %0
frame 0: -
frame 1: -, function %1, parent 0
snapshot 0: frame 0, instruction 1, locals [%3], stack []
snapshot 1: frame 1, instruction 1, parent 0, locals [], stack []
)",
        R"(
    %0 = param[0]
    %1 = constant{1}
    %2 = is_op[is] %0, %1
    %3 = bool_not %2
    guard_true %0 @1
    drop %3
    return_value %0)");
}

BOOST_AUTO_TEST_CASE(nothing_dies_earlier) {
  // The tuples kept the results of the calls alive until they were dropped; one of them is never dropped.
  check(remove_dead, R"(
    %0 = param[0]
    %1 = call{None} %0, %0 @0
    %2 = call{None} %0, %0 @0
    %3 = build_tuple %1
    %4 = build_tuple %3
    %5 = build_tuple %2
    drop %1, %2, %3
    %6 = call{None} %0, %0 @0
    drop %4
    return_value %6)",
        R"(
    %0 = param[0]
    %1 = call{None} %0, %0 @0
    %2 = call{None} %0, %0 @0
    %6 = call{None} %0, %0 @0
    drop %1
    return_value %6)");
}

BOOST_AUTO_TEST_CASE(drops_in_the_order_of_containers) {
  check(remove_dead, R"(
    %0 = param[0]
    %1 = call{None} %0, %0 @0
    %2 = call{None} %0, %0 @0
    %3 = call{None} %0, %0 @0
    %4 = build_tuple %1, %2, %1
    %5 = build_tuple %4, %3
    drop %1, %2, %3, %4
    %6 = call{None} %0, %0 @0
    drop %6, %5, %0
    leave @0)",
        R"(
    %0 = param[0]
    %1 = call{None} %0, %0 @0
    %2 = call{None} %0, %0 @0
    %3 = call{None} %0, %0 @0
    %6 = call{None} %0, %0 @0
    drop %6, %3, %2, %1, %0
    leave @0)");
}

BOOST_AUTO_TEST_CASE(dead_reads_and_dropped_params_stay) {
  check(remove_dead, R"(
    %0 = function
    %1 = param[1]
    %2 = param[2]
    %3 = function_default[0] %0
    %4 = function_default[1] %0
    drop %3, %1
    %5 = call{None} %0, %0 @0
    drop %4
    return_value %5)",
        R"(
    %0 = function
    %1 = param[1]
    %4 = function_default[1] %0
    drop %1
    %5 = call{None} %0, %0 @0
    drop %4
    return_value %5)");
}

BOOST_AUTO_TEST_CASE(same_guards) {
  check(drop_known_guards, R"(
    %0 = param[0]
    %1 = param[1]
    guard_type{<class 'float'>} %0 @0
    guard_type{<class 'float'>} %0 @1
    guard_is_not{None} %0 @0
    guard_is_not{None} %1 @0
    guard_not_null %0 @0
    %2 = call{None} %0, %1 @0
    guard_is_not{None} %1 @0
    guard_type{<class 'float'>} %0 @0
    guard_type{<class 'int'>} %0 @0
    return_value %2)",
        R"(
    %0 = param[0]
    %1 = param[1]
    guard_type{<class 'float'>} %0 @0
    guard_is_not{None} %1 @0
    %2 = call{None} %0, %1 @0
    guard_type{<class 'int'>} %0 @0
    return_value %2)");
}

BOOST_AUTO_TEST_CASE(types_of_results) {
  check(drop_known_guards, R"(
    %0 = param[0]
    %1 = param[1]
    guard_type{<class 'int'>} %0 @0
    %2 = int_binary[/] %0, %0 @0
    %3 = int_binary[**] %0, %0 @0
    %4 = int_binary[//=] %0, %0 @0
    %5 = unary_op[~] %4 @0
    guard_type{<class 'float'>} %2 @0
    guard_type{<class 'int'>} %3 @0
    guard_type{<class 'int'>} %4 @0
    guard_type{<class 'int'>} %5 @0
    return_value %1)",
        R"(
    %0 = param[0]
    %1 = param[1]
    guard_type{<class 'int'>} %0 @0
    %2 = int_binary[/] %0, %0 @0
    %3 = int_binary[**] %0, %0 @0
    %4 = int_binary[//=] %0, %0 @0
    %5 = unary_op[~] %4 @0
    guard_type{<class 'int'>} %3 @0
    return_value %1)");
}

BOOST_AUTO_TEST_CASE(guards_on_mutable_state) {
  // During a call an instance may get another class, and a function other code.
  check(drop_known_guards, R"(
    %0 = param[0]
    %1 = param[1]
    guard_type_version[3]{<#1>} %0 @0
    guard_type_version[3]{<#1>} %0 @0
    guard_type{<#1>} %0 @0
    guard_function{<#2>} %1 @0
    guard_function{<#2>} %1 @0
    %2 = call{None} %0, %1 @0
    guard_type{<#1>} %0 @0
    guard_type{<#1>} %0 @0
    guard_type_version[3]{<#1>} %0 @0
    guard_function{<#2>} %1 @0
    return_value %2)",
        R"(
    %0 = param[0]
    %1 = param[1]
    guard_type_version[3]{<#1>} %0 @0
    guard_function{<#2>} %1 @0
    %2 = call{None} %0, %1 @0
    guard_type{<#1>} %0 @0
    guard_type_version[3]{<#1>} %0 @0
    guard_function{<#2>} %1 @0
    return_value %2)",
        python_objects());
}

BOOST_AUTO_TEST_CASE(modules_change_their_class) {
  const Ref module_type = Ref::create(reinterpret_cast<PyObject*>(&PyModule_Type));
  unchanged(drop_known_guards, R"(
    %0 = param[0]
    guard_type{<#0>} %0 @0
    %1 = call{None} %0, %0 @0
    guard_type{<#0>} %0 @0
    return_value %1)",
            {module_type});
}

BOOST_AUTO_TEST_CASE(last_drops) {
  Graph graph = parse(std::string(R"(
    %0 = param[0]
    %1 = constant{5}
    drop %0, %1
    guard_true %0 @0
    drop %0
    %2 = null
    drop %2
    return_value %1)") +
                      kTail);
  BOOST_TEST(keep_last_drops(graph));
  BOOST_TEST(nodes_of(graph) == nodes_of(parse(R"(
    %0 = param[0]
    %1 = constant{5}
    guard_true %0 @0
    drop %0
    %2 = null
    return_value %1)")));
  BOOST_TEST(!keep_last_drops(graph));
}

BOOST_AUTO_TEST_CASE(numbers_without_gaps) {
  const Graph graph = check(compact, R"(
    %3 = param[0]
    %7, %8 = unpack_sequence[2] %3 @4
    return_value %8
frame 0: -
frame 1: -, function %3, parent 0
frame 2: -, function %1, parent 0
snapshot 0: frame 0, instruction 1, locals [], stack []
snapshot 1: frame 0, instruction 2, locals [], stack [%3, -]
snapshot 2: frame 0, instruction 3, locals [], stack []
snapshot 3: frame 0, instruction 4, locals [], stack []
snapshot 4: frame 1, instruction 5, parent 1, locals [], stack []
)",
                            R"(
    %0 = param[0]
    %1, %2 = unpack_sequence[2] %0 @1
    return_value %2)");
  BOOST_TEST(graph.value_count == 3);
}

BOOST_AUTO_TEST_CASE(array_operations_in_a_row_are_a_group) {
  check(form_groups, R"(
    %0 = param[0]
    %1 = constant{2.0}
    %2 = array_binary[*] %0, %1 @0
    %3 = array_binary[+] %2, %0 @0
    drop %2
    return_value %3)",
        R"(
    %0 = param[0]
    %1 = constant{2.0}
    %2 = array_binary[*] %0, %1 @0 in group 1
    %3 = array_binary[+] %2, %0 @0 in group 1
    drop %2 in group 1
    return_value %3)");
}

BOOST_AUTO_TEST_CASE(what_may_run_code_ends_a_group) {
  check(form_groups, R"(
    %0 = param[0]
    %1 = array_binary[*] %0, %0 @0
    %2 = array_binary[+] %1, %0 @0
    drop %1
    %3 = get_iter %2 @0
    %4 = array_unary[11] %3 @0
    %5 = array_unary[11] %4 @0
    return_value %5)",
        R"(
    %0 = param[0]
    %1 = array_binary[*] %0, %0 @0 in group 1
    %2 = array_binary[+] %1, %0 @0 in group 1
    drop %1 in group 1
    %3 = get_iter %2 @0
    %4 = array_unary[11] %3 @0 in group 2
    %5 = array_unary[11] %4 @0 in group 2
    return_value %5)");
}

BOOST_AUTO_TEST_CASE(numbers_and_attributes_do_not_end_a_group) {
  check(form_groups, R"(
    %0 = param[0]
    %1 = param[1]
    %2 = array_binary[*] %0, %0 @0
    %3 = load_attr{'rate'} %1 @0
    %4 = binary_op[+] %3, %3 @0
    %5 = array_binary[*] %2, %4 @0
    return_value %5)",
        R"(
    %0 = param[0]
    %1 = param[1]
    %2 = array_binary[*] %0, %0 @0 in group 1
    %3 = load_attr{'rate'} %1 @0 in group 1
    %4 = binary_op[+] %3, %3 @0 in group 1
    %5 = array_binary[*] %2, %4 @0 in group 1
    return_value %5)");
}

BOOST_AUTO_TEST_CASE(one_operation_may_be_a_group) {
  check(form_groups, R"(
    %0 = param[0]
    %1 = array_binary[*] %0, %0 @0
    return_value %1)",
        R"(
    %0 = param[0]
    %1 = array_binary[*] %0, %0 @0 in group 1
    return_value %1)");
}

BOOST_AUTO_TEST_CASE(numbers_alone_are_no_group) {
  unchanged(form_groups, R"(
    %0 = param[0]
    %1 = binary_op[*] %0, %0 @0
    %2 = binary_op[+] %1, %0 @0
    return_value %2)");
}

BOOST_AUTO_TEST_CASE(a_call_of_a_reduction_is_a_group) {
  check(form_groups, R"(
    %0 = param[0]
    %1, %2 = load_method{'sum'} %0 @0
    %3 = call{None} %1, %2 @0
    return_value %3)",
        R"(
    %0 = param[0]
    %1, %2 = load_method{'sum'} %0 @0 in group 1
    %3 = call{None} %1, %2 @0 in group 1
    return_value %3)");
}

BOOST_AUTO_TEST_CASE(another_call_is_no_group) {
  unchanged(form_groups, R"(
    %0 = param[0]
    %1, %2 = load_method{'append'} %0 @0
    %3 = call{None} %1, %2 @0
    return_value %3)");
}

BOOST_AUTO_TEST_CASE(old_numbers_of_groups_go) {
  check(form_groups, R"(
    %0 = param[0] in group 3
    %1 = binary_op[*] %0, %0 @0 in group 3
    return_value %1)",
        R"(
    %0 = param[0]
    %1 = binary_op[*] %0, %0 @0
    return_value %1)");
}

BOOST_AUTO_TEST_CASE(all_together) {
  Graph graph = parse(std::string(R"(
    %0 = param[0]
    %1 = param[1]
    guard_type{<class 'float'>} %0 @0
    guard_type{<class 'float'>} %1 @0
    %2 = float_binary[*] %0, %1 @0
    guard_type{<class 'float'>} %2 @0
    %3 = constant{0.0}
    guard_type{<class 'float'>} %3 @0
    %4 = float_compare[<] %2, %3
    guard_false %4 @0
    %5 = bool_not %4
    guard_true %5 @0
    guard_type{<class 'float'>} %0 @0
    %6 = float_binary[*] %0, %1 @0
    drop %4, %5
    %7 = float_binary[+] %2, %6 @0
    drop %2, %6
    return_value %7)") +
                      kTail);
  BOOST_REQUIRE(verify(graph).empty());
  optimise(graph);
  BOOST_TEST(verify(graph) == std::vector<std::string>{}, boost::test_tools::per_element());
  BOOST_TEST(print(graph) == R"(frame 0: -
%0 = param[0]
%1 = param[1]
guard_type{<class 'float'>} %0 @0
guard_type{<class 'float'>} %1 @0
%2 = float_binary[*] %0, %1 @0
%3 = constant{0.0}
%4 = float_compare[<] %2, %3
guard_false %4 @0
drop %4
%5 = float_binary[+] %2, %2 @0
drop %2
return_value %5
snapshot 0: frame 0, instruction 1, locals [], stack []
)");
}

BOOST_AUTO_TEST_CASE(errors_stay_set) {
  Graph graph = parse(std::string(R"(
    %0 = constant{7}
    %1 = constant{0}
    %2 = int_binary[//] %0, %1 @0
    return_value %2)") +
                      kTail);
  PyErr_SetString(PyExc_KeyError, "mine");
  optimise(graph);
  BOOST_TEST(graph.nodes.size() == 4U);
  BOOST_TEST(PyErr_ExceptionMatches(PyExc_KeyError));
  PyErr_Clear();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
