// Thins out rows beyond what a screen can show.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spillway {

// Returns the indices, in order, of at most about `most` rows that show what all of them show: the
// first, the last and, of each stretch of rows, those with the least and the greatest value of each
// column. The columns have equal lengths; values that are not finite do not count. Returns all rows
// if there are no more than `most`.
std::vector<std::size_t> thinned(std::span<std::vector<double> const> columns, std::size_t most);

}  // namespace spillway
