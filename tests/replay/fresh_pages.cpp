// Pages that are populated together: those that lie completely in the memory are present and zero, and no others.
#include "replay/arrays/numpy/fresh_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <vector>

namespace tagalong::array {
namespace {

class Mapping {
 public:
  explicit Mapping(std::size_t pages) : size_(pages * page()) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    BOOST_REQUIRE(memory_ != MAP_FAILED);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(memory_, size_); }

  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  [[nodiscard]] char* begin() const { return static_cast<char*>(memory_); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::vector<bool> present() const {
    std::vector<unsigned char> states(size_ / page());
    BOOST_REQUIRE(mincore(memory_, size_, states.data()) == 0);
    std::vector<bool> found;
    std::ranges::transform(states, std::back_inserter(found), [](unsigned char state) { return (state & 1U) != 0; });
    return found;
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_;
};

BOOST_AUTO_TEST_SUITE(fresh_pages)

BOOST_AUTO_TEST_CASE(those_inside_are_made) {
  const Mapping mapping(64);
  errno = EDOM;
  make_pages(mapping.begin() + 100, mapping.size() - 200);
  BOOST_TEST(errno == EDOM);
  std::vector<bool> present = mapping.present();
  BOOST_TEST(!present.front());
  BOOST_TEST(!present.back());
  const bool any = std::ranges::count(present, true) != 0;  // older systems do not support the request
  BOOST_TEST(std::ranges::count(present, true) == (any ? 62 : 0));
  BOOST_TEST(std::all_of(mapping.begin(), mapping.begin() + mapping.size(), [](char byte) { return byte == 0; }));
}

BOOST_AUTO_TEST_CASE(memory_in_use_is_not_changed) {
  const Mapping mapping(64);
  std::fill_n(mapping.begin(), mapping.size(), 'x');
  make_pages(mapping.begin(), mapping.size());
  BOOST_TEST(std::count(mapping.begin(), mapping.begin() + mapping.size(), 'x') == static_cast<long>(mapping.size()));
}

BOOST_AUTO_TEST_CASE(little_and_much_are_let_alone) {
  for (const std::size_t pages : {std::size_t{2}, (std::size_t{4} << 20U) / Mapping::page()}) {
    const Mapping mapping(pages);
    make_pages(mapping.begin(), mapping.size());
    BOOST_TEST(std::ranges::count(mapping.present(), true) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tagalong::array
