// Files for which the process has no memory: named, with the bytes that they would have taken.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/file/read_file.hpp"
#include "io/h5/carried_files.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::little_memory_test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class LittleMemory : public testing::Test {
 protected:
  LittleMemory() {
    fs::create_directories(m_dir / kCarriedFolder);
    std::ofstream(m_file) << "";
    fs::resize_file(m_file, 64 * kMiB);
  }
  ~LittleMemory() override { fs::remove_all(m_dir); }
  void SetUp() override {
    if (!test::MemoryLimit::kWorks) GTEST_SKIP() << "a sanitizer maps as much by itself";
  }
  template <class Read>
  std::string refusal(Read const& read) const {
    test::MemoryLimit const limit(8 * kMiB);
    return test::refused_with(read, Status::cannot_fit);
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway-little-memory";
  fs::path const m_file = m_dir / kCarriedFolder / "tokenizer.json";
  std::string const m_words =
      m_file.string() + ": the system does not give 64 MiB: Cannot allocate memory";
};

TEST_F(LittleMemory, for_a_text_or_an_input_names_it) {
  EXPECT_EQ(refusal([&] { read_text(m_file, 64 * kMiB); }), m_words);
  EXPECT_EQ(refusal([&] { read_input(m_file, 64 * kMiB); }), m_words);
}

// It is neither damaged nor left out of what comes of it.
TEST_F(LittleMemory, for_what_a_checkpoint_carries_names_it) {
  CarriedSums const sums = {{"tokenizer.json", {64 * kMiB, "0"}}};
  EXPECT_EQ(refusal([&] { read_carried(m_dir, sums); }), m_words);
}

}  // namespace
}  // namespace spillway::little_memory_test
