// The persistent state of a run as named fp32 tensors, over the arena that holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.hpp"

namespace spillway {

class Arena;

enum class StatePart : std::uint8_t { master, moment1, moment2 };

// Where a parameter's part lies in the arena, and how it is stored.
struct StoredPart {
  std::byte* bytes = nullptr;         // of the chunk
  std::int16_t* remainder = nullptr;  // of a split master; null otherwise
  DType dtype = DType::f32;
  std::int64_t first = 0;  // element of the chunk
};

// Reads and writes parameters and moments by chunk and parameter index, converting to and from what
// the run stores (a bf16 parameter and its remainder are one exact fp32 master). Call it only
// between steps.
class ModelState {
 public:
  ModelState(Program const& program, Arena& device);

  // Draws every master from (seed, parameter, element): the same bits on every rank. Moments begin
  // as the zeros that a fresh arena holds.
  void initialise(std::uint64_t seed);

  // Elements [first, first + size) of one parameter.
  void read(StatePart part, int chunk, int parameter, std::int64_t first,
            std::span<float> to) const;
  void write(StatePart part, int chunk, int parameter, std::int64_t first,
             std::span<float const> from);

  std::vector<Chunk> const& chunks() const { return m_program.chunks; }

 private:
  struct ChunkBytes {
    std::byte *parameter = nullptr, *remainder = nullptr, *moment1 = nullptr, *moment2 = nullptr;
  };
  StoredPart locate(StatePart part, int chunk, int parameter) const;

  Program const& m_program;
  std::vector<ChunkBytes> m_bytes;  // by chunk
};

}  // namespace spillway
