// np.exp and np.log of float64 as loops of our own that take the steps of NumPy's, whose bits they have, without a call
// for each vector; and the same within joined machine code (exact_code.h).
//
//   kernel.loop = vector_loop("exp", kernel.loop, kernel.context, kernel.auxdata);   // or what it was
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "replay/array/numpy_abi.h"

namespace tagalong::array {

// Numbers of which SVML's log is not the correctly rounded one, by mpmath: one in 700. Whoever takes other steps has,
// like libm, one of the other doubles for almost all of them.
inline constexpr std::array kMisroundedLogs{
    0x1.5c02cd91c2320p-725, 0x1.c02c3c4b2ec46p-3,   0x1.6cd1b9884995ap-1,  0x1.9197d42903848p-1,  0x1.9ef35eadaf36ap-1,
    0x1.bc113e74bee26p-1,   0x1.c13caad5b2167p-1,   0x1.ca7c20a9fa062p-1,  0x1.ccf61f0961896p-1,  0x1.d4091f9fdef0ep-1,
    0x1.dd1e43e8d1fdep-1,   0x1.e0324cc8bf8efp-1,   0x1.e5c609cfc71f7p-1,  0x1.ebfab8de98e2ap-1,  0x1.f2b44a29b6b73p-1,
    0x1.0041bfc6dbd8dp+0,   0x1.014fce56272c6p+0,   0x1.0b372a2185e0dp+0,  0x1.222c351ab6f63p+0,  0x1.2afcfa0321df7p+0,
    0x1.5425810e53a66p+0,   0x1.5e4ae00225a24p+0,   0x1.6761220af96f4p+0,  0x1.8472d92260155p+0,  0x1.8c9e46334a01dp+0,
    0x1.bf5ba7fe7a51ap+0,   0x1.2a52a0b6748d0p+1,   0x1.38bba37c7031ep+1,  0x1.42f2e1f0e50c3p+1,  0x1.60e2e04ac62b9p+1,
    0x1.d77d639e6eb78p+1,   0x1.344bb73f66f0ep+2,   0x1.8f876dd4bfce7p+2,  0x1.d93487736c00fp+2,  0x1.4e8cb6f5e587bp+3,
    0x1.5f373ff7de8b8p+3,   0x1.6900f2809e054p+3,   0x1.94ee82266fafcp+3,  0x1.9f42e10a66d7ap+3,  0x1.abf75f857193fp+3,
    0x1.b6f2ddcee4d96p+3,   0x1.bd04edbde6ec8p+3,   0x1.1eb6522aeccc0p+4,  0x1.4ff67a6cf6388p+19, 0x1.ed9cbd58cab91p+92,
    0x1.340520bc88ad8p+129, 0x1.b28917b1437e9p+314, 0x1.6a3bb28d315a4p+329};

// A loop to be called with the same context and auxdata instead of NumPy's `loop` for a ufunc of this name from float64
// to float64; `loop` itself where there is none, or where NumPy's takes other steps on this machine. Needs the GIL.
[[nodiscard]] StridedLoop vector_loop(std::string_view name, StridedLoop loop, MethodContext* context, void* auxdata);

// Those that are used in place of NumPy's so far.
[[nodiscard]] std::vector<std::string_view> vector_functions();

// Whether it is one of these, so that the function may be a part of joined code.
[[nodiscard]] bool is_vector_loop(StridedLoop loop);

}  // namespace tagalong::array
