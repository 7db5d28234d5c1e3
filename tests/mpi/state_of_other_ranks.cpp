// What N ranks saved is what M ranks load, to the byte, wherever it lies and whatever part of it
// each keeps. Started without arguments
// it launches itself: as N ranks that save, then as M that load and compare.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/bf16.hpp"
#include "base/philox.hpp"
#include "comm/mpi_scope.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/scope.hpp"
#include "state/checkpoints.hpp"
#include "state/restore.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStep = 5;
constexpr std::array kParts = {kMaster, std::string_view("m"), std::string_view("v")};
constexpr std::array kPlaces = {Tier::device, Tier::host, Tier::nvme};
constexpr std::array kShards = {Shard::none, Shard::gradients, Shard::all};
// A kind of state is a place and a shard, the latter running faster.
constexpr int kKinds = kPlaces.size() * kShards.size();
constexpr std::array kSaved = {0, 4, 6, 8};  // the kinds that 1, 2, 3 and 4 ranks save

// Any finite number may stand in a checkpoint: these are of all sizes.
float value_of(std::size_t part, int chunk, std::size_t parameter, std::int64_t element) {
  auto const block = philox(part, static_cast<std::uint64_t>(chunk) << 32 | parameter,
                            static_cast<std::uint64_t>(element));
  auto const bits = static_cast<std::uint32_t>(block.x[0]);
  auto const value = std::bit_cast<float>(bits);
  return std::isfinite(value) ? value : 0.5f;
}

Plan plan_of(Graph const& graph, Tier place, Shard shard) {
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  for (auto& chunk : plan.chunks) {
    chunk.parameters = chunk.optimizer = place;
    chunk.update = place == Tier::device ? Tier::device : Tier::host;
    chunk.shard = shard;
  }
  return plan;
}

// The persistent state of a tiny GPT, in memory of its own.
class State {
 public:
  State(Comm& comm, Tier place, Shard shard, fs::path const& spill_directory)
      : m_graph(tiny_run_graph(config(), comm.size())),
        m_plan(for_ranks(plan_of(m_graph, place, shard), comm.size())),
        m_program(tiny_program({m_graph, m_plan, comm})),
        m_tiers(host_device(), m_program.peak_bytes, &m_spill),
        m_spill(spill_directory, m_program.peak_bytes[2], {}),
        m_model(m_program, m_tiers, comm.rank()) {}

  ModelState& model() { return m_model; }

  // Calls body(part, chunk, parameter, values) for every tensor.
  template <class Body>
  void for_each(Body const& body) {
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      for (auto const& chunk : m_model.chunks()) {
        for (std::size_t p = 0; p < chunk.parameters.size(); ++p) {
          auto const elements = element_count(chunk.parameters[p].view.shape);
          std::vector<float> values(static_cast<std::size_t>(elements));
          for (std::int64_t i = 0; i < elements; ++i)
            values[static_cast<std::size_t>(i)] = value_of(part, chunk.id, p, i);
          body(kParts[part], chunk.id, static_cast<int>(p), values);
        }
      }
    }
  }

 private:
  static Config config() {
    auto config = tiny_config();
    config.precision = Precision::bf16;
    return config;
  }

  Graph m_graph;
  Plan m_plan;
  Program m_program;
  Tiers m_tiers;
  SpillFile m_spill;
  ModelState m_model;
};

void save(State& state, fs::path const& directory, Comm& comm) {
  state.for_each([&](auto part, int chunk, int parameter, auto const& values) {
    state.model().write(part, chunk, parameter, 0, values);
  });
  state.model().complete();
  RunState run;
  run.step = kStep;
  SaveSettings settings;
  save_checkpoint(directory, state.model(), run, settings, comm);
}

bool loads_the_same(State& state, fs::path const& directory, Comm& comm) {
  CheckpointReader reader(directory / fmt::format("step-{}", kStep));
  restore_model(reader, nullptr, state.model(), comm);
  bool same = true;
  auto& model = state.model();
  state.for_each([&](auto part, int chunk, int parameter, auto const& all) {
    auto const own = model.owned(chunk, parameter);
    auto const expected = std::span(all).subspan(static_cast<std::size_t>(own.first),
                                                 static_cast<std::size_t>(own.last - own.first));
    std::vector<float> found(expected.size());
    model.read(part, chunk, parameter, own.first, found);
    same = same && std::memcmp(found.data(), expected.data(), 4 * found.size()) == 0;
    if (part != kMaster || !model.keeps_all(chunk)) return;
    std::vector<std::uint16_t> whole;
    for (auto const value : all) whole.push_back(split_master(value).parameter.bits);
    auto const kept = model.stored(kWholeParameter, chunk, parameter, 0, std::ssize(all), false);
    same = same && std::ranges::equal(kept, std::as_bytes(std::span(whole)));
  });
  return same;
}

int run_as_rank(int argc, char** argv) {
  MpiScope const scope(argc, argv);
  auto const comm = make_world_comm({.patience_s = 1800});
  KernelScope const kernels(1);
  fs::path const directory = argv[2];
  auto const kind = std::strtoul(argv[3], nullptr, 10);
  State state(*comm, kPlaces.at(kind / kShards.size()), kShards.at(kind % kShards.size()),
              directory);
  bool good = true;
  if (std::string_view(argv[1]) == "save") {
    save(state, directory, *comm);
  } else {
    good = loads_the_same(state, directory, *comm);
  }
  return comm->agree(good ? 0 : 1);
}

int launch(char const* what, int ranks, fs::path const& directory, int kind) {
  auto const self = fs::read_symlink("/proc/self/exe").string();
  auto const command = fmt::format(SPILLWAY_MPIEXEC " -n {} '{}' {} '{}' {}", ranks, self, what,
                                   directory.string(), kind);
  int const status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Between the smallest and the largest shard lie a page for every tensor and what HDF5 needs.
void expect_equal_shares(fs::path const& checkpoint, int ranks) {
  std::vector<std::uintmax_t> sizes;
  for (int rank = 0; rank < ranks; ++rank)
    sizes.push_back(fs::file_size(checkpoint / fmt::format("shard-{}.h5", rank)));
  auto const [least, most] = std::ranges::minmax(sizes);
  EXPECT_LE(most - least, 100'000u) << ranks << " ranks: " << least << " to " << most;
}

TEST(StateOfOtherRanks, is_the_same_to_the_byte_in_every_place) {
  for (int writers = 1; writers <= 4; ++writers) {
    auto const directory =
        fs::path(testing::TempDir()) / fmt::format("state_of_{}_ranks-{}", writers, ::getpid());
    fs::create_directory(directory);
    auto const kind = kSaved.at(static_cast<std::size_t>(writers - 1));
    ASSERT_EQ(launch("save", writers, directory, kind), 0) << writers;
    if (kShards.at(static_cast<std::size_t>(kind) % kShards.size()) == Shard::none)
      expect_equal_shares(directory / fmt::format("step-{}", kStep), writers);
    for (int readers = 1; readers <= 4; ++readers)
      EXPECT_EQ(launch("load", readers, directory, (kind + readers) % kKinds), 0)
          << writers << " ranks saved, " << readers << " load";
    fs::remove_all(directory);
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  if (argc == 4) return spillway::test::run_as_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
