#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

namespace spillway::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) {
  return n == 0 ? 0 : random() % n;
}

// A range of the bytes, mostly a short one.
struct RandomRange {
  std::size_t at, size;
  RandomRange(Random& random, std::string const& bytes)
      : at(below(random, bytes.size())),
        size(std::min(bytes.size() - at, below(random, std::size_t{1} << (1 + random() % 10)))) {}
};

constexpr std::array<std::int64_t, 12> kEdges = {0,
                                                 -1,
                                                 1,
                                                 127,
                                                 255,
                                                 65535,
                                                 std::numeric_limits<std::int32_t>::max(),
                                                 1 << 16,
                                                 1ll << 32,
                                                 1ll << 40,
                                                 std::numeric_limits<std::int64_t>::max(),
                                                 std::numeric_limits<std::int64_t>::min()};

void put_edge(Random& random, std::string& bytes) {
  auto const edge = kEdges[below(random, kEdges.size())];
  auto const at = below(random, bytes.size());
  auto const size = std::min(bytes.size() - at, std::size_t{1} << random() % 4);
  std::memcpy(bytes.data() + at, &edge, size);
}

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

void put_digits(Random& random, std::string& bytes) {
  static constexpr std::array<char const*, 8> texts = {
      "-1",       "0",      "9223372036854775807", "18446744073709551616", "1e999", "nan",
      "[[[[[[[[", "\x1b[2J"};
  auto const at =
      std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(below(random, bytes.size())),
                   bytes.end(), is_digit);
  if (at != bytes.end()) bytes.replace(at, at + 1, texts[below(random, texts.size())]);
}

void change(Random& random, std::string& bytes) {
  RandomRange const range(random, bytes);
  switch (random() % 9) {
    case 0:
    case 1:
      bytes[range.at] = static_cast<char>(bytes[range.at] ^ (1 << random() % 8));
      break;
    case 2:
      bytes[range.at] = static_cast<char>(random());
      break;
    case 3:
      put_edge(random, bytes);
      break;
    case 4:
      put_digits(random, bytes);
      break;
    case 5:
      bytes.erase(range.at, range.size);
      break;
    case 6:
      bytes.insert(below(random, bytes.size()), bytes.substr(range.at, range.size));
      break;
    case 7:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(range.at), range.size,
                  random() % 2 == 0 ? '\0' : '\xff');
      break;
    default:
      if (random() % 8 == 0) bytes.resize(range.at);
  }
}

}  // namespace

std::string mutated(std::string bytes, std::uint64_t seed) {
  if (seed % 4 == 0) return with_other_number(std::move(bytes), seed);
  Random random(seed);
  for (auto changes = 1 + random() % 8; changes > 0 && !bytes.empty(); --changes)
    change(random, bytes);
  return bytes;
}

std::string with_other_number(std::string text, std::uint64_t seed) {
  Random random(seed);
  auto const begin = text.begin() + static_cast<std::ptrdiff_t>(below(random, text.size()));
  auto const first = std::find_if(begin, text.end(), is_digit);
  auto const last = std::find_if_not(first, text.end(), is_digit);
  auto const small = static_cast<std::int64_t>(below(random, 64));
  auto const number = random() % 4 == 0 ? kEdges[below(random, kEdges.size())] : small;
  if (first != last) text.replace(first, last, std::to_string(number));
  return text;
}

}  // namespace spillway::test
