// Draws a row of numbers in one line of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace spillway {

// Returns `columns` characters at most, one for each number or, where there are more numbers, for
// the mean of some neighbours. Low numbers are low blocks or, without `unicode`, thin characters.
// The highest twentieth of all numbers is drawn alike, so that how a loss begins does not flatten
// the rest.
std::string sparkline(std::span<double const> numbers, std::size_t columns, bool unicode);

}  // namespace spillway
