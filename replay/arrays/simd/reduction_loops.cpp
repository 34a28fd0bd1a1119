#include "replay/arrays/simd/reduction_loops.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "replay/arrays/simd/lanes.h"
#include "replay/arrays/simd/non_temporal.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {

Tally own_reductions;

#if defined(__x86_64__)

namespace {

constexpr auto kItem = static_cast<Extent>(sizeof(double));

// NumPy's loops, which handle strided operands. All kernels of one kind share a loop.
StridedLoop numpy_sum = nullptr;
std::array<StridedLoop, 2> numpy_extremes{};

bool is_contiguous(const Extent* strides) { return strides[0] == 0 && strides[1] == kItem && strides[2] == 0; }

TAGALONG_INTRINSICS_BEGIN

// NumPy's leaf: eight partial sums, each of every eighth element; the elements behind the last eight are added one
// after another. Two vectors of four are as fast as one of eight, because the latency of the addition is the limit.
TAGALONG_AVX2 double sum_of_leaf(const double* values, Extent count) {
  using Four [[gnu::vector_size(32)]] = double;
  constexpr Extent kFour = kLanes / 2;
  double sum = -0.0;
  Extent done = 0;
  if (count >= kLanes) {
    Four first;
    Four second;
    std::memcpy(&first, values, sizeof(first));
    std::memcpy(&second, values + kFour, sizeof(second));
    for (done = kLanes; done + kLanes <= count; done += kLanes) {
      Four next;
      std::memcpy(&next, values + done, sizeof(next));
      first += next;
      std::memcpy(&next, values + done + kFour, sizeof(next));
      second += next;
    }
    sum = ((first[0] + first[1]) + (first[2] + first[3])) + ((second[0] + second[1]) + (second[2] + second[3]));
  }
  for (; done < count; ++done) {
    sum += values[done];
  }
  return sum;
}

double sum_of(const double* values, Extent count) {
  return pairwise_sum(0, count, kLeaf,
                      [&](Extent begin, Extent elements) { return sum_of_leaf(values + begin, elements); });
}

int sum(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* aux) {
  if (!is_contiguous(strides)) {
    return numpy_sum(context, data, dims, strides, aux);
  }
  own_reductions.add();
  double result;
  std::memcpy(&result, data[0], sizeof(result));
  result += sum_of(reinterpret_cast<const double*>(data[1]), dims[0]);
  std::memcpy(data[2], &result, sizeof(result));
  return 0;
}

template <bool of_largest>
[[gnu::noinline]] TAGALONG_AVX512 bool find(const double* values, Extent count, double* result) {
  constexpr Extent kTogether = 4;
  constexpr Extent kMinAligned = 256;  // elements
  const __m512d first = _mm512_set1_pd(*result);
  __mmask8 nans = _mm512_cmp_pd_mask(first, first, _CMP_UNORD_Q);
  __m512d one = first;
  __m512d two = first;
  __m512d three = first;
  __m512d four = first;
  const auto reduce = [&](const double* some, Extent elements) TAGALONG_AVX512 {
    const __m512d a = _mm512_mask_loadu_pd(first, mask_of(elements), some);
    nans |= _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q);
    one = better<of_largest>(one, a);
  };
  Extent done = 0;
  if (count >= kMinAligned) {  // aligned loads do not cross cache lines
    done = before_line(values);
    reduce(values, done);
  }
  const auto reduce_four = [&] TAGALONG_AVX512 {
    const __m512d a = _mm512_loadu_pd(values + done);
    const __m512d b = _mm512_loadu_pd(values + done + kLanes);
    const __m512d c = _mm512_loadu_pd(values + done + 2 * kLanes);
    const __m512d d = _mm512_loadu_pd(values + done + 3 * kLanes);
    nans |= _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q) | _mm512_cmp_pd_mask(c, d, _CMP_UNORD_Q);
    one = better<of_largest>(one, a);
    two = better<of_largest>(two, b);
    three = better<of_largest>(three, c);
    four = better<of_largest>(four, d);
    done += kTogether * kLanes;
  };
  // The prefetch also starts the page walk for small pages in time. The loop ends before the prefetches leave the row.
  for (const Extent most = count * kItem >= min_prefetch ? count - kPrefetchDistance / kItem : 0;
       done + kTogether * kLanes <= most;) {
    for (Extent line = 0; line < kTogether; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(values + done + line * kLanes) + kPrefetchDistance, _MM_HINT_T0);
    }
    reduce_four();
  }
  while (done + kTogether * kLanes <= count) {
    reduce_four();
  }
  for (; done < count; done += kLanes) {
    reduce(values + done, count - done);
  }
  one = better<of_largest>(better<of_largest>(one, two), better<of_largest>(three, four));
  *result = of_largest ? _mm512_reduce_max_pd(one) : _mm512_reduce_min_pd(one);
  return nans == 0;
}

template <bool of_largest>
int extreme(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* aux) {
  if (!is_contiguous(strides)) {
    return numpy_extremes[of_largest ? 1 : 0](context, data, dims, strides, aux);
  }
  own_reductions.add();
  const unsigned control = _mm_getcsr();
  double result;
  std::memcpy(&result, data[0], sizeof(result));
  if (!find<of_largest>(reinterpret_cast<const double*>(data[1]), dims[0], &result)) {
    _mm_setcsr(control);  // NumPy's loop raises no flags for NaNs
    result = std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  }
  std::memcpy(data[2], &result, sizeof(result));
  return 0;
}

TAGALONG_INTRINSICS_END

// Compares sums of values of very different magnitudes, and of zeros, for many lengths of a row.
bool sums_agree(StridedLoop loop, MethodContext* context, void* auxdata) {
  constexpr Extent kMost = 1100;
  constexpr Extent kAllLengths = kLeaf + 2 * kLanes;  // all lengths up to this are compared
  constexpr Extent kStep = 13;
  constexpr Extent kStepOfZeros = 37;
  constexpr std::uint64_t kFactor = 6364136223846793005;
  constexpr unsigned kTop = 40;
  std::vector<double> values(kMost);
  for (const bool are_zeros : {false, true}) {
    std::uint64_t state = 1;
    for (double& value : values) {
      state = state * kFactor + 1;
      const auto number = static_cast<double>(state >> kTop);
      value = are_zeros ? -0.0 : (state & 1U << 20U) != 0 ? number / 3 : -number * number / 7;
    }
    for (Extent count = 0; count < kMost; count += are_zeros ? kStepOfZeros : count < kAllLengths ? 1 : kStep) {
      double numpy_result = -0.0;
      auto* result = reinterpret_cast<char*>(&numpy_result);
      const std::array<char*, 3> places{result, reinterpret_cast<char*>(values.data()), result};
      const std::array<Extent, 3> strides{0, kItem, 0};
      static_cast<void>(loop(context, places.data(), &count, strides.data(), auxdata));
      const double own = -0.0 + sum_of(values.data(), count);
      if (std::bit_cast<std::uint64_t>(own) != std::bit_cast<std::uint64_t>(numpy_result)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

StridedLoop sum_loop(StridedLoop loop, MethodContext* context, void* auxdata) {
  if (numpy_sum == nullptr && has_avx2() && sums_agree(loop, context, auxdata)) {
    numpy_sum = loop;
  }
  return numpy_sum == loop ? sum : loop;
}

StridedLoop extreme_loop(StridedLoop loop, bool of_largest) {
  StridedLoop& numpy_loop = numpy_extremes[of_largest ? 1 : 0];
  if (!has_avx512() || (numpy_loop != nullptr && numpy_loop != loop)) {
    return loop;
  }
  numpy_loop = loop;
  return of_largest ? extreme<true> : extreme<false>;
}

#else

StridedLoop sum_loop(StridedLoop loop, MethodContext* /*context*/, void* /*auxdata*/) { return loop; }
StridedLoop extreme_loop(StridedLoop loop, bool /*of_largest*/) { return loop; }

#endif

}  // namespace tagalong::array
