// Whether two views share memory, compared with the bytes that their elements have.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <random>
#include <set>
#include <utility>

#include "replay/arrays/fusion/iteration_space.h"

namespace tagalong::array {
namespace {

void add_bytes(const View& view, Extent item_size, int axis, const char* place, std::set<const char*>* bytes) {
  if (axis == view.shape.nd) {
    for (Extent i = 0; i < item_size; ++i) {
      bytes->insert(place + i);
    }
    return;
  }
  for (Extent i = 0; i < view.shape.dims.at(static_cast<std::size_t>(axis)); ++i) {
    add_bytes(view, item_size, axis + 1, place + i * view.strides.at(static_cast<std::size_t>(axis)), bytes);
  }
}

bool share_bytes(const View& one, Extent item_size, const View& other, Extent other_item_size) {
  std::set<const char*> bytes;
  std::set<const char*> other_bytes;
  add_bytes(one, item_size, 0, one.data, &bytes);
  add_bytes(other, other_item_size, 0, other.data, &other_bytes);
  return std::ranges::any_of(bytes, [&](const char* byte) { return other_bytes.contains(byte); });
}

std::array<char, 4096> memory;

View view_at(Extent offset, std::initializer_list<std::pair<Extent, Extent>> axes) {
  View view;
  view.data = memory.data() + offset;
  for (const auto& [length, stride] : axes) {
    const auto axis = static_cast<std::size_t>(view.shape.nd++);
    view.shape.dims.at(axis) = length;
    view.strides.at(axis) = stride;
  }
  return view;
}

BOOST_AUTO_TEST_SUITE(array_overlap)

BOOST_AUTO_TEST_CASE(interleaved) {
  constexpr Extent kSize = 8;
  const View even = view_at(0, {{10, 16}});
  const View odd = view_at(8, {{10, 16}});
  BOOST_TEST(!overlap(even, kSize, odd, kSize));
  BOOST_TEST(overlap(even, kSize + 1, odd, kSize));
  BOOST_TEST(overlap(even, kSize, even, kSize));
  BOOST_TEST(!overlap(view_at(0, {{5, 80}, {3, 16}}), kSize, view_at(40, {{5, 80}, {2, 8}}), 4));
  BOOST_TEST(!overlap(view_at(0, {{0, 8}}), kSize, even, kSize));
}

BOOST_AUTO_TEST_CASE(random_views) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): each run tests the same
  const auto pick = [&](Extent least, Extent most) {
    return std::uniform_int_distribution<Extent>(least, most)(random);
  };
  constexpr Extent kMiddle = 2048;
  const auto view = [&](Extent item_size) {
    View made;
    made.data = memory.data() + kMiddle + pick(-20, 20) * (pick(0, 3) == 0 ? 1 : item_size);
    made.shape.nd = static_cast<int>(pick(1, 3));
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(made.shape.nd); ++axis) {
      made.shape.dims.at(axis) = pick(0, 9) == 0 ? 0 : pick(1, 5);
      made.strides.at(axis) = pick(-12, 12) * (pick(0, 3) == 0 ? 1 : item_size);
    }
    return made;
  };
  int apart = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Extent item_size = Extent{1} << pick(0, 3);
    const Extent other_item_size = Extent{1} << pick(0, 3);
    const View one = view(item_size);
    const View other = view(other_item_size);
    const bool is_shared = share_bytes(one, item_size, other, other_item_size);
    const bool is_found = overlap(one, item_size, other, other_item_size);
    BOOST_TEST((is_found || !is_shared));
    apart += is_found ? 0 : 1;
  }
  BOOST_TEST(apart > 2000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tagalong::array
