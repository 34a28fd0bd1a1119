// Arguments that distinguish functions that differ in the last bits only: SVML's logarithm from libm's
// (svml_functions.h), and glibc's functions from the same steps with other roundings (libm_steps.inc).
#pragma once

#include <array>

namespace tagalong::array {

// Arguments for which SVML's log is not correctly rounded (compared with mpmath). A function with other steps, such as
// libm's, gives another double for almost all of them.
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

// glibc compiles its functions with FMA for processors that have it. For each of these arguments the result changes if
// one FMA is computed as a multiplication and an addition. They were found by trying every such change on millions of
// random arguments. (Most changes alter none of the results; but a compiler fuses all operations or none.) The last
// arguments of exp lie at boundaries between multiples of ln(2)/128. In a sine, two sums have two products each, of
// which the compiler fuses one: the last arguments of kFusedSines show which.
inline constexpr std::array kFusedSines{
    -0x1.78ed133b3dd52p-4,  0x1.03f51862954b4p+22,  -0x1.1f1412ca29b4ep+11, -0x1.aab2a368b45a5p+0,
    0x1.f0f016c8cd995p+2,   -0x1.3093e47ada39p+3,   -0x1.88f40f064852p+21,  0x1.08850e5afdf9ap+22,
    -0x1.2a1ffff559ad6p+23, -0x1.d6c6eab295f5dp-2,  -0x1.7a691ed6a7291p+6,  -0x1.d817d670e9be2p+21,
    -0x1.fc16adb1e956cp+9,  0x1.23849f57a531p-2,    0x1.cf3c1c2cfd73ep+2,   -0x1.003f5d8103534p+22,
    -0x1.04edea412e674p+0,  -0x1.3012626f1ff2ap+13, 0x1.ad7deaf5e14aap-1,   -0x1.187f72a2416cfp+3,
    0x1.c15566ac401f7p+3,   0x1.ed7eaca9c23a5p+21,  -0x1.bbd55fe7d5e25p+11, -0x1.e0680f37aef3ap-5,
    -0x1.72b86a6156f25p+11, -0x1.9ff25be44134bp+1,  0x1.4ca9f74a375p+6,     -0x1.34fb1fb2df96dp+2,
    -0x1.d47999706dc6fp+0,  0x1.2ea02dda88ef3p+1,   0x1.0af1b160a35p+0,     0x1.ff19e7d9512e8p-1,
    0x1.bd5249867cb1ep+2,   -0x1.14af26f7ba07ap+1,  -0x1.5189a5f939176p+3,  0x1.32cdecc79afbap+1,
    0x1.1cc86087bfe44p+2,   0x1.093a28356db11p+3};
inline constexpr std::array kFusedArcsines{
    -0x1.ecff9688a66f3p-4, -0x1.5d57265dbda0ap-4, 0x1.be84d953778a7p-4,  0x1.14b59f38242e3p-2,  -0x1.c10087ee92034p-3,
    -0x1.76041e5f8e81p-1,  0x1.0685907dd8209p-1,  -0x1.c604528aa4047p-1, -0x1.9a25943f6c1aep-1, 0x1.e61d12c174a34p-1,
    0x1.e04974b44ebbcp-1,  -0x1.d9a0dc417ab93p-1, -0x1.ee0f04b427a55p-1, 0x1.e841ace7de941p-1,  -0x1.ea19bca501136p-1,
    -0x1.f0482dd91ffefp-1, -0x1.f07ba4ed5751bp-1};
inline constexpr std::array kFusedExps{
    0x1.6829ea3dbf353p+8,  0x1.6f9abeb834458p+8,  0x1.a6097e1e60c3ep+8,  -0x1.fd78789657552p+6, -0x1.a9092fa81bfe8p-1,
    -0x1.52ef475f5b3a9p+8, -0x1.3d7cdc435fb3bp+7, -0x1.769f0287b8ap+0,   0x1.27cf2636405d7p+8,  0x1.774aa0ef96b9bp+8,
    0x1.1c84998acb3dap+1,  0x1.ab9a9739295a7p+8,  -0x1.444c5137c4adap+8, -0x1.37609e70fd2aap+8, -0x1.308857c44df2cp+8,
    -0x1.2bd7cfda254b4p+8, -0x1.27601e7baa04fp+8, -0x1.204f01434d6bep+8};
inline constexpr std::array kFusedLogs{
    0x1.f5bbcacd27648p+0, 0x1.79bbf234d2f86p+0, 0x1.53a06b00fbd48p+1, 0x1.732daa7ae8e84p+0, 0x1.7165ee34bd4f8p+0,
    0x1.85a901cac80a2p+0, 0x1.85edf39a6c2a2p+0, 0x1.01d9d10cb53e8p-1, 0x1.506bb4c6e67ep-1,  0x1.35ea325a60b8cp-1,
    0x1.94e2ff42770e6p-2, 0x1.0fd3635b52634p+0, 0x1.03d6a1de22815p+0, 0x1.e33395e4c2d57p-1, 0x1.e818fb0993178p-1,
    0x1.08cc74bca49d9p+0, 0x1.03727a2be1f91p+0, 0x1.0a6c3a559e988p+0, 0x1.0b53d28b08bbp+0,  0x1.eecc984ffc2d2p-1,
    0x1.0c3add937db41p+0, 0x1.e95bdb6c338acp-1, 0x1.eb2bcd202141ep-1, 0x1.0ee8f33b80b3fp+0, 0x1.0b6ff3dfc985ap+0,
    0x1.0fdd2cd7316eep+0, 0x1.e34323f291e17p-1, 0x1.f90a544b571e9p-1, 0x1.0e81d82262572p+0};

struct PowerSample {
  double base, exponent;
};
inline constexpr std::array kFusedPowers{
    PowerSample{0x1.1f977bfa71584p+0, -0x1.95f9e9e6d415fp+9}, PowerSample{0x1.f991db0c819b3p+9, 0x1.f0f6f7e7d5eb8p+1},
    PowerSample{0x1.3460535ec731cp+2, 0x1.69d6f02ff0ddp-2},   PowerSample{0x1.503b836e7ab7cp+2, -0x1.0bc6df72221bp+1},
    PowerSample{0x1.fe02a7147bc9ep-1, -0x1.f02954dcd10fp+16}, PowerSample{0x1.03584ba1e7396p+0, 0x1.23d13c0bbb947p+15},
    PowerSample{0x1.ff443fb33b06ap-1, 0x1.bc0f5c7abd6e3p+17}, PowerSample{0x1.e27b5c019166p-2, -0x1.9a5e38fb30632p+1},
    PowerSample{0x1.82c63fe9bc49p-750, 0x1.38f199a920a3ep-1}, PowerSample{0x1.4b73c6272c968p-2, 0x1.aa612d19a0f58p-1},
    PowerSample{0x1.0094b638b8a6p+0, -0x1.b771b963b1532p+17}, PowerSample{0x1.fe2d08fdcae55p-1, -0x1.c50e2bd323eb3p+16},
    PowerSample{0x1.fa23b55155acp-1, -0x1.49ff2a2b55141p+15}, PowerSample{0x1.552dc0e04fa24p-9, 0x1.2401e79d601ap-5},
    PowerSample{0x1.0016c3da48818p+0, 0x1.1cc2ef6f61f49p+20}, PowerSample{0x1.818251ee94067p+2, 0x1.8c1c3123f0758p-1},
    PowerSample{0x1.f3275e795605ep-1, 0x1.1215a6a1db576p+13}};

}  // namespace tagalong::array
