#include "device/cuda/architectures.hpp"

#include <charconv>

namespace spillway {
namespace {

// Machine code runs on devices of its major version and no earlier minor one, and PTX on all later
// devices. Code of one device ("90a") or family ("100f") runs on no other.
bool runs(std::string_view word, int capability) {
  int made_for = 0;
  auto const* const last = word.data() + word.size();
  auto const [end, error] = std::from_chars(word.data(), last, made_for);
  if (error != std::errc()) return true;
  std::string_view const suffix(end, static_cast<std::size_t>(last - end));
  if (suffix.starts_with('a')) return capability == made_for;
  bool const needs_major = suffix.starts_with('f') || suffix.ends_with("-real");
  if (needs_major && capability / 10 != made_for / 10) return false;
  return capability >= made_for;
}

}  // namespace

bool has_code_for(std::string_view architectures, int capability) {
  constexpr std::string_view between = ", ";
  while (true) {
    auto const comma = architectures.find(between);
    if (runs(architectures.substr(0, comma), capability)) return true;
    if (comma == architectures.npos) return false;
    architectures.remove_prefix(comma + between.size());
  }
}

}  // namespace spillway
