// A ModelState presents the persistent state of a run as named fp32 tensors, on all tiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/data/program.hpp"
#include "state/stored_tensor.hpp"

namespace spillway {

// Names the masters of parameters. What the update keeps is named by State::name.
inline constexpr std::string_view kMaster = "master";

// Points to elements of one parameter in memory, in the type in which they are stored.
struct StoredPart {
  std::byte* bytes = nullptr;
  std::int16_t* remainder = nullptr;  // the lower halves of split masters, or null
  DType dtype = DType::f32;
};

// Reads and writes masters and states by chunk and parameter index, on any tier. Converts between
// fp32 and the stored type: a bf16 parameter and its remainder are one exact fp32 master. Only one
// thread at a time may use a ModelState, and only between steps of finished Engines. All functions
// throw Error(storage) if the state lies in a spill file that fails.
class ModelState {
 public:
  // `is_there` means that the state already has values, from earlier steps or a move. Otherwise it
  // must be initialised or written.
  ModelState(Program const& program, Tiers const& tiers, bool is_there = false);

  // Draws every master from (seed, parameter, element), the same on every rank. States become zero.
  void initialise(std::uint64_t seed);

  // These read or write the elements of one parameter that begin at `first`.
  void read(std::string_view part, int chunk, int parameter, std::int64_t first,
            std::span<float> to);
  void write(std::string_view part, int chunk, int parameter, std::int64_t first,
             std::span<float const> from);
  // Sets to zero what was never written, and puts everything where the Program expects it. Call
  // this after the last write.
  void complete();
  // Frees memory and forgets values that steps may change. Call this after reads and before the
  // next step.
  void release();

  IdVector<Chunk> const& chunks() const { return m_program.chunks; }

 private:
  struct ChunkState {
    StoredTensor parameter;
    std::vector<StoredTensor> states;  // in the order of the chunk's states
  };
  ChunkState& open(int chunk);
  StoredTensor* state(std::string_view name, int chunk);
  StoredPart locate(std::string_view part, int chunk, std::int64_t first, bool changes);
  void draw(Chunk const& chunk, Parameter const& parameter, std::uint64_t seed,
            std::uint64_t number);

  Program const& m_program;
  std::vector<ChunkState> m_chunks;
  int m_open = -1;  // the chunk that may have windows, or -1
};

}  // namespace spillway
