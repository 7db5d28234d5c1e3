#include "plan/memory/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/schedule/schedule.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::layout_test {
namespace {

// Whether some byte belongs to both at the same item.
bool clash(Buffer const& a, Lifetime const& life_a, Buffer const& b, Lifetime const& life_b) {
  for (Stay const& x : life_a) {
    for (Stay const& y : life_b) {
      bool const bytes = a.offset + x.first_byte < b.offset + y.last_byte &&
                         b.offset + y.first_byte < a.offset + x.last_byte;
      if (bytes && x.meets(y)) return true;
    }
  }
  return false;
}

// Pairs of buffers that are alive together and share bytes.
int clashes(Program const& program) {
  auto const alive = lifetimes(program);
  int result = 0;
  for (Buffer const& a : program.buffers) {
    for (Buffer const& b : program.buffers) {
      if (a.id >= b.id || a.tier != b.tier) continue;
      result +=
          clash(a, alive[static_cast<std::size_t>(a.id)], b, alive[static_cast<std::size_t>(b.id)]);
    }
  }
  return result;
}

std::int64_t bound(Program const& program, Tier tier) {
  auto const live = live_bytes(program, lifetimes(program), tier);
  return *std::max_element(live.begin(), live.end());
}

Program gpt_program(std::string const& policy, int micro_batches, int ranks) {
  static Graph const graph = gpt_training_graph({});
  auto const plan =
      make_plan(graph, PlanWords{.activations = {policy}, .prefetch = 2}, BlockPolicy::keep);
  return schedule(graph, plan, micro_batches, ranks);
}

void lay_out(Program& program) {
  Program* programs[] = {&program};
  layout(programs);
}

TEST(Layout, never_gives_the_same_bytes_to_two_buffers_alive_together) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(clashes(random_program(random)), 0) << i;
    ASSERT_EQ(clashes(random_step(random)), 0) << i;
  }
  for (char const* policy : {"keep", "recompute", "nvme"}) {
    Program program = gpt_program(policy, 2, 2);
    lay_out(program);
    EXPECT_EQ(clashes(program), 0) << policy;
  }
}

// What the tests of proofs draw: every form that a schedule uses.
TEST(Layout, has_holes_and_stays_into_the_next_step_to_place) {
  Random random(8);
  int holes = 0, wraps = 0, both = 0;
  for (int i = 0; i < 300; ++i) {
    Program const program = random_step(random);
    auto const last = static_cast<ItemNumber>(program.items.size()) - 1;
    for (Lifetime const& life : lifetimes(program)) {
      bool const wraps_around = life.size() > 1 && std::ranges::count(life, 0, &Stay::first) > 0 &&
                                std::ranges::count(life, last, &Stay::last) > 0;
      bool const has_hole = life.size() > (wraps_around ? 2u : 1u);
      holes += has_hole;
      wraps += wraps_around;
      both += has_hole && wraps_around;
    }
  }
  EXPECT_GT(holes, 100);
  EXPECT_GT(wraps, 100);
  EXPECT_GT(both, 10);
}

std::int64_t highest_end(Program const& program, Tier tier) {
  std::int64_t end = 0;
  for (Buffer const& b : program.buffers) {
    if (b.tier == tier) end = std::max(end, b.offset + footprint_bytes(b));
  }
  return end;
}

TEST(Layout, has_peaks_that_are_where_the_highest_buffer_ends_on_every_tier) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Graph const graph = gpt_training_graph(random_shape(random));
    Program planned = schedule(graph, random_plan(graph, random), 2, 1);
    lay_out(planned);
    for (Program const& program : {planned, random_step(random)}) {
      for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
        auto const peak = program.peak_bytes[index(tier)];
        EXPECT_EQ(peak, highest_end(program, tier)) << seed << " " << name(tier);
        EXPECT_GE(peak, bound(program, tier)) << seed << " " << name(tier);
      }
    }
  }
}

TEST(Layout, stays_within_two_percent_of_the_bytes_alive_for_gpt2) {
  for (char const* policy : {"keep", "recompute", "nvme"}) {
    for (int const micro_batches : {1, 3}) {
      for (int const ranks : {1, 2}) {
        Program program = gpt_program(policy, micro_batches, ranks);
        lay_out(program);
        EXPECT_GE(program.peak_bytes[0], bound(program, Tier::device));
        EXPECT_LE(static_cast<double>(program.peak_bytes[0]),
                  1.02 * static_cast<double>(bound(program, Tier::device)))
            << policy << " " << micro_batches << " " << ranks;
        EXPECT_LE(static_cast<double>(program.peak_bytes[2]),
                  1.02 * static_cast<double>(bound(program, Tier::nvme)) + kSpillBytes);
      }
    }
  }
}

// Whole neighbours would leave gaps of half a buffer, in which nothing has room.
TEST(Layout, leaves_no_gaps_where_the_ends_of_activations_are_away) {
  for (int const group : {1, 3}) {
    for (auto const* policy : {"host:0.25", "host:0.5", "light+host:0.75"}) {
      PlanWords words{.activations = {policy}};
      words.group = group;
      auto plan = make_plan(gpt_training_graph({}), words, BlockPolicy::keep);
      plan.unified = false;
      auto program = schedule(gpt_training_graph({}), plan, 6, 1);
      lay_out(program);
      auto const peak = static_cast<double>(program.peak_bytes[Tier::device]);
      EXPECT_LE(peak, 1.04 * static_cast<double>(bound(program, Tier::device)))
          << policy << " in groups of " << group;
    }
  }
}

TEST(Layout, aligns_large_buffers_to_pages_small_ones_to_lines_and_spilled_ones_to_extents) {
  Program program = gpt_program("nvme", 3, 2);
  lay_out(program);
  for (Buffer const& buffer : program.buffers) {
    ASSERT_EQ(buffer.offset % alignment_bytes(buffer.bytes, buffer.tier), 0) << buffer.name;
    ASSERT_GE(buffer.stride, buffer.versions > 1 ? buffer.bytes : 0) << buffer.name;
  }
}

TEST(Layout, is_the_same_every_time) {
  Program a = gpt_program("nvme", 2, 1), b = gpt_program("nvme", 2, 1);
  lay_out(a);
  lay_out(b);
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    ASSERT_EQ(a.buffers[i].offset, b.buffers[i].offset);
  }
}

TEST(Layout, shares_parameters_and_the_transient_region_among_programs) {
  GptShape const shape{.layers = 2, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64};
  Graph const train = gpt_training_graph(shape), eval = gpt_graph(shape, Purpose::eval);
  auto const plan = make_plan(train, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const compiled = compile(train, &eval, plan, 1, 1);
  std::map<int, std::int64_t> offsets;  // of parameters, per chunk
  auto const& tensors = compiled.train.tensors;
  for (Buffer const& buffer : compiled.train.buffers) {
    Tensor const& tensor = tensors[static_cast<std::size_t>(buffer.tensor)];
    if (tensor.role == Role::parameter) offsets[tensor.chunk] = buffer.offset;
  }
  for (Buffer const& buffer : compiled.eval->buffers) {
    Tensor const& tensor = compiled.eval->tensors[static_cast<std::size_t>(buffer.tensor)];
    if (tensor.role == Role::parameter) {
      EXPECT_EQ(buffer.offset, offsets.at(tensor.chunk)) << buffer.name;
    } else {
      EXPECT_GE(buffer.offset, compiled.train.persistent_bytes[0]) << buffer.name;
    }
  }
  EXPECT_EQ(compiled.train.peak_bytes, compiled.eval->peak_bytes);
}

}  // namespace
}  // namespace spillway::test::layout_test
