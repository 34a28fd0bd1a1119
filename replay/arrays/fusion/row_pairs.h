// Two neighbouring rows at once (region_pairs.cpp).
#pragma once

namespace tagalong::array {

// Elements from which on it is looked for.
extern long worth_pairing;
// Rows that both take, from which on that pays.
extern long shared_rows;
// Elements of the shortest rows of which neighbours are one row of memory: what is nearer lies in the same row.
extern long least_distance;

}  // namespace tagalong::array
