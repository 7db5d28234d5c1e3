// Ranks that hold the gradients of their own slices alone, and tell each other the norms of these:
// the commit decides by the same bits as where every rank holds the whole and takes all norms.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "kernels/host/kernels.hpp"
#include "plan/proof/verify.hpp"
#include "runtime/engine.hpp"
#include "tests/mpi/norm_step.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

// Slices that end within a parameter or behind a gap, and some that are empty.
std::vector<NormChunk> chunks(Held first, Held others) {
  return {{first, {9001, 83, 1, 12345}},
          {others, {100}},
          {others, {4000, 33, 16384, 7}},
          {others, {5 * kNormTile}}};
}

// Of an element's normal distribution: so far apart that sums are rounded, whatever the type.
double deviation(int chunk, std::int64_t element) {
  return std::ldexp(1 + chunk, -static_cast<int>(element % 24));
}

struct Decided {
  CommitSums sums;
  std::vector<double> norms;  // [chunks, ranks]
  double gradient_scale = 0;
};

class ShardedNorms : public ::testing::TestWithParam<DType> {
 protected:
  // `damage`: one element of the first chunk is another on the last rank, in rank 0's slice.
  Decided run(std::vector<NormChunk> const& chunks, unsigned seed, bool damage = false) {
    NormStep const step(chunks, GetParam(), g_comm->rank(), g_comm->size());
    auto const& program = step.program;
    if (auto const wrong = verify(program)) throw std::logic_error(wrong->why);
    auto tiers = make_tiers(program, nullptr);
    Decided decided;
    auto const decide = [&](CommitSums const& sums) {
      decided.sums = sums;
      CommitDecision decision;
      decision.grad_norm = std::sqrt(sums.norm_squared) / sums.weight_sum;
      decision.control[control_gradient_scale] =
          std::min(1.0, 0.25 / decision.grad_norm) / sums.weight_sum;
      return decision;
    };
    Engine engine({program, tiers, host::kernels(), *g_comm, m_batches, decide});
    std::ranges::fill(doubles(engine, program.known.loss), 1.5);
    for (auto const& chunk : program.chunks) {
      bool const copied = chunks[static_cast<std::size_t>(chunk.id)].held == Held::copied;
      fill(engine, chunk, 10 * seed + (copied ? 0u : static_cast<unsigned>(g_comm->rank() + 1)));
    }
    if (damage && g_comm->rank() + 1 == g_comm->size())
      write(engine.bytes(program.chunks[0].gradient).data(), GetParam(), 3);
    engine.run_step(0);
    engine.finish();
    auto const norms = doubles(engine, program.known.norms);
    decided.norms.assign(norms.begin(), norms.end());
    decided.gradient_scale = doubles(engine, program.known.control)[control_gradient_scale];
    return decided;
  }

 private:
  static std::span<double> doubles(Engine const& engine, TensorId id) {
    auto const bytes = engine.bytes(id);
    return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
  }
  // NaN in the gaps between parameters.
  static void fill(Engine const& engine, Chunk const& chunk, unsigned seed) {
    std::mt19937 random(100 * seed + static_cast<unsigned>(chunk.id));
    std::normal_distribution<double> normal;
    auto const bytes = engine.bytes(chunk.gradient);
    std::ranges::fill(bytes, std::byte{0xFF});
    for (auto const& parameter : chunk.parameters)
      for (std::int64_t i = 0; i < element_count(parameter.view.shape); ++i)
        write(bytes.data() + (parameter.view.offset + i) * size_bytes(GetParam()), GetParam(),
              normal(random) * deviation(chunk.id, i));
  }

  NoBatches m_batches;
};
INSTANTIATE_TEST_SUITE_P(Gradients, ShardedNorms, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

std::vector<std::uint64_t> bits(Decided const& decided) {
  std::vector<std::uint64_t> all = {std::bit_cast<std::uint64_t>(decided.sums.norm_squared),
                                    std::bit_cast<std::uint64_t>(decided.gradient_scale)};
  for (auto const norm : decided.norms) all.push_back(std::bit_cast<std::uint64_t>(norm));
  return all;
}

// Each rank's chunks first, then the ranks, from one end or from the other.
double sum(std::vector<double> const& norms, bool backwards) {
  auto const ranks = static_cast<std::size_t>(g_comm->size());
  double total = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    double of_rank = 0;
    for (auto at = backwards ? ranks - 1 - i : i; at < norms.size(); at += ranks)
      of_rank += norms[at];
    total += of_rank;
  }
  return total;
}

TEST_P(ShardedNorms, decide_by_the_bits_that_whole_gradients_give) {
  int other_order_shows = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    auto const whole = run(chunks(Held::gathered, Held::gathered), seed);
    EXPECT_EQ(bits(run(chunks(Held::sharded, Held::sharded), seed)), bits(whole));
    EXPECT_EQ(bits(run(chunks(Held::gathered, Held::sharded), seed)), bits(whole));
    EXPECT_EQ(whole.sums.norm_squared, sum(whole.norms, false));
    other_order_shows += whole.sums.norm_squared != sum(whole.norms, true);
  }
  RecordProperty("other_order_shows", other_order_shows);
  EXPECT_EQ(other_order_shows > 0, g_comm->size() > 2);  // two may be added in any order
}

// The contributions are independent of each other, so their variances add up.
TEST_P(ShardedNorms, are_those_of_the_sum_over_ranks) {
  auto const decided = run(chunks(Held::sharded, Held::sharded), 1);
  double expected = 0;
  for (int id = 0; auto const& chunk : chunks(Held::sharded, Held::sharded)) {
    for (auto const size : chunk.sizes)
      for (std::int64_t i = 0; i < size; ++i)
        expected += g_comm->size() * deviation(id, i) * deviation(id, i);
    ++id;
  }
  EXPECT_NEAR(decided.sums.norm_squared, expected, 0.05 * expected);
  EXPECT_EQ(decided.sums.weight_sum, 1.5 * g_comm->size());
}

// The rows of what every rank holds are compared as they are, whatever is exchanged beside them.
TEST_P(ShardedNorms, a_damaged_copy_is_still_refused) {
  auto const mixed = chunks(Held::copied, Held::sharded);
  EXPECT_NO_THROW(run(mixed, 1));
  try {
    run(mixed, 1, true);
    FAIL() << "trained on";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::damaged);
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
