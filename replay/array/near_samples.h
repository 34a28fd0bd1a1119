// Arguments for which functions with other steps than near_steps.inc has give other results than these.
#pragma once

#include <array>

namespace tagalong::array {

// glibc's exp and log are compiled with fused multiplications and additions for processors that have them. Where one of
// these is not fused the result is another one, for each of these numbers: found by trying all such changes on 40
// million arguments each. (Most changes make no difference to any of so many; but a compiler fuses all of them, or
// none.) The last ones of exp lie where the next multiple of ln(2)/128 begins.
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

}  // namespace tagalong::array
