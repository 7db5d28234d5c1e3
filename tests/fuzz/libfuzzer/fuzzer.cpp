// libFuzzer's entries: SPILLWAY_FUZZ_TARGET names the kind of file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/targets.hpp"

namespace {

spillway::test::FuzzTarget const& chosen_target() {
  auto const* const name = std::getenv("SPILLWAY_FUZZ_TARGET");
  static auto const& target = spillway::test::fuzz_target(name != nullptr ? name : "");
  return target;
}

}  // namespace

// SPILLWAY_FUZZ_SEEDS, a directory of the corpus: sound files are put there before it is read.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  auto const* const directory = std::getenv("SPILLWAY_FUZZ_SEEDS");
  int number = 0;
  for (auto const& bytes : chosen_target().sound) {
    if (directory == nullptr) break;
    std::ofstream(std::string(directory) + "/sound-" + std::to_string(number++), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Half of the changes to a text are other numbers.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  bool const is_text = std::find(data, data + size, 0) == data + size;
  if (!is_text || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  auto const text = spillway::test::with_other_number(
      std::string(reinterpret_cast<char const*>(data), size), seed);
  std::copy_n(text.begin(), std::min(text.size(), most), data);
  return std::min(text.size(), most);
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    spillway::test::fuzz_once(chosen_target(),
                              std::string(reinterpret_cast<char const*>(data), size));
  } catch (std::logic_error const& finding) {
    std::fprintf(stderr, "%s\n", finding.what());
    std::abort();
  }
  return 0;
}
