// How plans are spoken about to somebody who has never seen one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

// "device memory", "host memory", "NVMe".
std::string_view words(Tier tier);
// "computing", "reading NVMe", ...
std::string_view words(Lane lane);

// "-" for none.
std::string bytes_or_dash(std::int64_t bytes);
// A share as "62 %"; one of less than half a per cent, but not none, as "<1 %".
std::string percent(double part, double whole);
// "1 rank", "2 ranks".
std::string count(std::int64_t number, std::string_view what);
// "+14 %", "-5 %", "same" where times are not told apart; empty where one is not known.
std::string change(double now_s, double before_s);

}  // namespace spillway
