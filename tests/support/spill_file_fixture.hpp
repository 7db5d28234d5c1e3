// A fixture that gives each test of the spill file a directory of its own, and functions that these
// tests share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "io/ring/scripted_queue.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway::test {

inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
inline constexpr double kLong = 60;  // in seconds; no test waits so long

class SpillFileTest : public testing::Test {
 protected:
  SpillFileTest() { std::filesystem::create_directories(m_dir); }
  ~SpillFileTest() override { std::filesystem::remove_all(m_dir); }

  static std::vector<std::byte> pattern(std::int64_t size, unsigned seed) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    std::minstd_rand random(seed + 1);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
    return bytes;
  }
  static std::span<std::byte> part(std::vector<std::byte>& bytes, std::int64_t first,
                                   std::int64_t size) {
    return std::span(bytes).subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(size));
  }
  // Waits for all transfers that are under way and returns the result of each by its tag.
  static std::map<std::uint64_t, IoResult> finish(SpillFile& file) {
    std::map<std::uint64_t, IoResult> results;
    while (file.under_way() > 0) {
      auto const done = file.wait(kLong);
      if (!done) continue;
      EXPECT_TRUE(results.emplace(done->tag, done->result).second) << "done twice";
    }
    return results;
  }
  SpillFile with_script(ScriptedQueue::Script script, std::int64_t size,
                        SpillSettings settings = {}, int depth = 4) {
    return SpillFile(m_dir, size, settings,
                     MadeQueue{std::make_unique<ScriptedQueue>(depth, 1, std::move(script)), ""});
  }

  std::filesystem::path m_dir = std::filesystem::path(testing::TempDir()) /
                                testing::UnitTest::GetInstance()->current_test_info()->name();
};

inline std::int64_t all_of(TransferRequest const& request) {
  return static_cast<std::int64_t>(request.memory.size());
}

}  // namespace spillway::test
