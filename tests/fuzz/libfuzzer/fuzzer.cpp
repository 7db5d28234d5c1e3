// libFuzzer's entry: SPILLWAY_FUZZ_TARGET names the kind of file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace spillway::test;
  auto const* const name = std::getenv("SPILLWAY_FUZZ_TARGET");
  static auto const& target = fuzz_target(name != nullptr ? name : "");
  try {
    fuzz_once(target, std::string(reinterpret_cast<char const*>(data), size));
  } catch (std::logic_error const& finding) {
    std::fprintf(stderr, "%s\n", finding.what());
    std::abort();
  }
  return 0;
}
