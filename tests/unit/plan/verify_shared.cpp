// Programs that run by turns on one arena: what damages the state of one in another is found.
#include "plan/proof/verify_shared.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "plan/compile/compile.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::verify_shared_test {
namespace {

class SharedState : public testing::Test {
 protected:
  std::optional<std::string> verify() const {
    return verify_shared(std::array<Program const*, 2>{&m_programs[0], &m_programs[1]});
  }
  Buffer& any(bool persistent) {
    auto& buffers = m_programs[1].buffers;
    return *std::ranges::find(buffers, persistent, &Buffer::persistent);
  }
  void expect_found(char const* why) const {
    auto const said = verify();
    ASSERT_TRUE(said);
    EXPECT_NE(said->find(why), std::string::npos) << *said;
  }

  Graph m_graph = gpt_graph({.layers = 2, .hidden = 32, .heads = 2, .vocab = 256, .sequence = 16},
                            Purpose::eval);
  std::vector<Program> m_programs =
      compile_inference(std::array{m_graph, m_graph}, 1, /*unified=*/true);
};

TEST_F(SharedState, is_sound_as_it_is_laid_out) {
  EXPECT_EQ(verify(), std::nullopt);
}

TEST_F(SharedState, may_not_be_somewhere_else) {
  any(true).offset += 64;
  expect_found("in another Program");
}

TEST_F(SharedState, may_not_be_shared_with_other_state) {
  for (auto& program : m_programs) {
    auto const first = std::ranges::find(program.buffers, true, &Buffer::persistent);
    auto const second =
        std::ranges::find(first + 1, program.buffers.end(), true, &Buffer::persistent);
    second->offset = first->offset;
  }
  expect_found("persists where");
}

TEST_F(SharedState, may_not_be_written_over_by_what_is_transient) {
  any(false).offset = any(true).offset;
  expect_found("is transient where");
}

// Two Programs with a buffer of state and a transient one behind it.
class SharedViolations : public testing::Test {
 protected:
  SharedViolations() {
    for (auto& program : m_programs) {
      Buffer state;
      state.name = "w";
      state.tier = Tier::host;
      state.bytes = 64;
      state.offset = 128;
      state.persistent = true;
      auto second = state, transient = state;
      second.name = "v";
      second.offset = 192;
      second.versions = 2;
      second.stride = 96;
      transient.name = "t";
      transient.offset = 192 + 64 + 96;
      transient.persistent = false;
      program.buffers = {state, second, transient};
    }
  }
  std::string said() const {
    return verify_shared(std::array<Program const*, 2>{&m_programs[0], &m_programs[1]})
        .value_or("sound");
  }
  Program m_programs[2];
};

TEST_F(SharedViolations, name_both_places) {
  EXPECT_EQ(said(), "sound");
  m_programs[1].buffers[0].bytes = 63;
  EXPECT_EQ(said(),
            "w (bytes 128 to 192 of host) is w (bytes 128 to 191 of host) in another Program");
}

TEST_F(SharedViolations, name_what_lies_in_other_state) {
  for (auto& program : m_programs) program.buffers[1].offset = 191;
  EXPECT_EQ(said(), "v (bytes 191 to 351 of host) persists where something else does");
}

TEST_F(SharedViolations, name_what_lies_behind_no_state) {
  m_programs[1].buffers[2].offset -= 1;
  EXPECT_EQ(said(), "t (bytes 351 to 415 of host) is transient where something persists");
  m_programs[1].buffers[2].tier = Tier::device;
  EXPECT_EQ(said(), "sound") << "nothing persists there";
}

}  // namespace
}  // namespace spillway::test::verify_shared_test
