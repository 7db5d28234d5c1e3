// The environment's wishes, read once.
#pragma once

#include <climits>

#include "planted.hpp"

namespace spillway::planted {

struct Settings {
  unsigned calls = 0;  // a bit each
  char const* path = nullptr;
  char const* kind = nullptr;
  char const* after = nullptr;
  char const* count_file = nullptr;
  long stride = 1, first = 1, last = LONG_MAX;
  int error = 0;
  bool kills = false, hangs = false, stops = false, shortens = false, exchanges = true;
};

Settings const& settings();

char const* name(Call call);

}  // namespace spillway::planted
