// The persistent state of a run as named fp32 tensors, over the tiers that hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/data/program.hpp"
#include "state/stored_tensor.hpp"

namespace spillway {

// What is stored of parameters: their masters, and what the update keeps of them, by State::name.
inline constexpr std::string_view kMaster = "master";

// Elements of one parameter in memory, and how they are stored.
struct StoredPart {
  std::byte* bytes = nullptr;
  std::int16_t* remainder = nullptr;  // of a split master; null otherwise
  DType dtype = DType::f32;
};

// Reads and writes masters and states by chunk and parameter index, converting to and from what
// the run stores (a bf16 parameter and its remainder are one exact fp32 master), on whatever tier
// that lies. One thread at a time, only between steps of finished Engines. All throw Error(storage)
// where state lies in a spill file that fails.
class ModelState {
 public:
  // `is_there`: steps have been done with it, or a move has brought it; else it is to be
  // initialised or written.
  ModelState(Program const& program, Tiers const& tiers, bool is_there = false);

  // Draws every master from (seed, parameter, element): the same bits on every rank. States begin
  // as zeros.
  void initialise(std::uint64_t seed);

  // Elements [first, first + size) of one parameter.
  void read(std::string_view part, int chunk, int parameter, std::int64_t first,
            std::span<float> to);
  void write(std::string_view part, int chunk, int parameter, std::int64_t first,
             std::span<float const> from);
  // After the last write: what was never written is zero, and all is where the Program finds it.
  void complete();
  // To be called after reads and before the next step: gives memory free, and what steps change is
  // read anew.
  void release();

  IdVector<Chunk> const& chunks() const { return m_program.chunks; }

 private:
  struct ChunkState {
    StoredTensor parameter;
    std::vector<StoredTensor> states;  // as the chunk's
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
