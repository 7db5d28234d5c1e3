// It presents the persistent state of a run as named fp32 tensors, over the tiers that hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/data/program.hpp"
#include "state/stored_tensor.hpp"

namespace spillway {

// The masters of parameters are stored, and what the update keeps of them, by State::name.
inline constexpr std::string_view kMaster = "master";

// These are elements of one parameter in memory, as they are stored.
struct StoredPart {
  std::byte* bytes = nullptr;
  std::int16_t* remainder = nullptr;  // the lower halves of split masters; else null
  DType dtype = DType::f32;
};

// Reads and writes masters and states by chunk and parameter index, on whatever tier they lie. It
// converts to and from what the run stores: a bf16 parameter and its remainder are one exact fp32
// master. One thread at a time may use it, only between steps of finished Engines. All functions
// throw Error(storage) where state lies in a spill file that fails.
class ModelState {
 public:
  // If `is_there`, steps have been done with it, or a move has brought it; else it is to be
  // initialised or written.
  ModelState(Program const& program, Tiers const& tiers, bool is_there = false);

  // Draws every master from (seed, parameter, element): the same bits on every rank. States begin
  // as zeros.
  void initialise(std::uint64_t seed);

  // Gives elements [first, first + size) of one parameter.
  void read(std::string_view part, int chunk, int parameter, std::int64_t first,
            std::span<float> to);
  void write(std::string_view part, int chunk, int parameter, std::int64_t first,
             std::span<float const> from);
  // To be called after the last write: what was never written becomes zero, and all is where the
  // Program finds it.
  void complete();
  // To be called after reads and before the next step: gives memory free, and what steps change is
  // read anew.
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
  int m_open = -1;  // the chunk that may have windows
};

}  // namespace spillway
