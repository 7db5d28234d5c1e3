// What storage gives to a spill file: 64 MiB at a time, several transfers under way, as training
// moves them.
//   build/bin/spillway_bench_spill DIRECTORY[,DIRECTORY...] [GiB, 4] [rounds, 3]
// Prints GB/s of writing a file of that size, of reading it, and of reading its first half while
// the second is written; with checksums, without, and without but with registered memory; of
// several directories for the first alone and striped over all. All of these alternate. Takes the
// space three times, of several directories six times.
#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {
namespace {

constexpr std::size_t kTransferBytes = std::size_t{64} << 20, kUnderWay = 8;
// Ranges of plans begin anywhere between stripes.
constexpr std::int64_t kFirst = 5 * kSpillAlignment;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct Free {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

// Of numbers that no storage can make smaller.
Memory make_memory(std::size_t bytes) {
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kHugePageBytes, bytes)));
  ::madvise(memory.get(), bytes, MADV_HUGEPAGE);
  std::mt19937_64 numbers(1);
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t const number = numbers();
    std::memcpy(memory.get() + i, &number, sizeof number);
  }
  return memory;
}

class Bench {
 public:
  Bench(Directories const& directories, std::int64_t bytes, bool checksums, bool registers)
      : m_file(directories, kFirst + bytes, {.checksums = checksums}),
        m_drives(directories.all.size()),
        m_checksums(checksums) {
    std::span const memory(m_memory.get(), kUnderWay * kTransferBytes);
    if (registers && !m_file.register_memory(std::array{memory}))
      std::fprintf(stderr, "%s\n", m_file.advice().back().c_str());
    move(all(Direction::write));  // the file's blocks, which a run writes again and again
  }

  void round() {
    double const write = move(all(Direction::write)), read = move(all(Direction::read));
    std::printf(
        "{\"drives\": %zu, \"checksums\": %s, \"backend\": \"%s\", \"direct\": %s, \"write_gbps\": "
        "%.3f, "
        "\"read_gbps\": %.3f, \"both_gbps\": %.3f}\n",
        m_drives, m_checksums ? "true" : "false", m_file.backend(),
        m_file.direct() ? "true" : "false", write, read, move(both()));
    std::fflush(stdout);
  }

 private:
  struct Move {
    Direction direction;
    std::int64_t offset_bytes;
  };

  std::vector<Move> all(Direction direction) const {
    std::vector<Move> moves;
    for (std::int64_t at = kFirst; at < m_file.size_bytes(); at += kTransferBytes)
      moves.push_back({direction, at});
    return moves;
  }

  std::vector<Move> both() const {
    std::vector<Move> moves;
    auto const half = (m_file.size_bytes() - kFirst) / 2;
    for (std::int64_t at = kFirst; at < kFirst + half; at += kTransferBytes) {
      moves.push_back({Direction::read, at});
      moves.push_back({Direction::write, half + at});
    }
    return moves;
  }

  // Begins one as soon as another ends; GB/s.
  double move(std::vector<Move> const& moves) {
    auto const start = std::chrono::steady_clock::now();
    std::size_t begun = 0, ended = 0;
    for (; begun < std::min(kUnderWay, moves.size()); ++begun) begin(moves[begun], begun);
    for (; ended < moves.size(); ++ended) {
      auto const slot = end_one();
      if (begun < moves.size()) begin(moves[begun++], slot);
    }
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    return static_cast<double>(moves.size() * kTransferBytes) / seconds.count() * 1e-9;
  }

  void begin(Move const& move, std::size_t slot) {
    m_file.begin({move.direction,
                  {m_memory.get() + slot * kTransferBytes, kTransferBytes},
                  move.offset_bytes,
                  slot});
  }

  std::size_t end_one() {
    for (;;) {
      auto const done = m_file.wait(1);
      if (!done) continue;
      if (done->result != IoResult::ok) throw Error(Status::storage, m_file.first_failure());
      return done->tag;
    }
  }

  SpillFile m_file;
  std::size_t m_drives;
  bool m_checksums;
  Memory m_memory = make_memory(kUnderWay * kTransferBytes);
};

void measure(std::vector<std::string> const& directories, std::int64_t gib, int rounds) {
  std::vector<Directories> ways = {directories.front()};
  if (directories.size() > 1) ways.emplace_back(directories);
  std::vector<std::unique_ptr<Bench>> benches;
  for (auto const& [checksums, registers] :
       {std::pair(true, false), std::pair(false, false), std::pair(false, true)})
    for (auto const& way : ways)
      benches.push_back(std::make_unique<Bench>(way, gib << 30, checksums, registers));
  for (int round = 0; round < rounds; ++round)
    for (auto const& bench : benches) bench->round();
}

std::vector<std::string> split(std::string const& list) {
  std::vector<std::string> parts(1);
  for (char const c : list) c == ',' ? void(parts.emplace_back()) : parts.back().push_back(c);
  return parts;
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "spillway_bench_spill DIRECTORY[,DIRECTORY...] [GiB, 4] [rounds, 3]\n");
    return 2;
  }
  spillway::measure(spillway::split(argv[1]), argc > 2 ? std::atoll(argv[2]) : 4,
                    argc > 3 ? std::atoi(argv[3]) : 3);
} catch (spillway::Error const& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
