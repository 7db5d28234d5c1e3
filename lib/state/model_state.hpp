// A ModelState presents parameters and moments, on whatever tier they lie, as named tensors: of
// fp32 numbers, or of bytes as they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/formulas/quantizer.hpp"
#include "plan/data/exchange.hpp"
#include "state/stored_tensor.hpp"

namespace spillway {

// A part of a chunk's state has the name of a State, such as a moment's, or one of these names.
// kMaster means the fp32 masters of parameters.
inline constexpr std::string_view kMaster = "master";
// These two mean parameters as they are stored: kParameter those that the rank owns, and
// kWholeParameter the copy of all of a chunk's parameters that `keeps_all` speaks of.
inline constexpr std::string_view kParameter = "parameter", kWholeParameter = "whole parameter";
// The State of this name holds the lower halves of masters whose parameters are bf16.
inline constexpr std::string_view kRemainder = "remainder";

// Points to elements of a chunk's parameters or moments, which are stored in memory as `dtype`.
struct StoredPart {
  std::byte* bytes = nullptr;
  std::int16_t* remainder = nullptr;  // points to lower halves of bf16 masters, or is null
  DType dtype = DType::f32;
};

// Reads and writes masters and moments by chunk and parameter index, on any tier. Converts between
// fp32 and the stored type: a bf16 parameter and its remainder are one exact fp32 master. If ranks
// share out a chunk, a rank has only those elements that `owned` names. Of a quantized parameter
// the elements are written in their order, all of them, and those that are read are what its bytes
// stand for. Only one thread at a time may use a ModelState, and only while no Engine runs. All
// functions throw Error(storage) if the state lies in a spill file that fails.
class ModelState {
 public:
  // `is_there` means that the state already has values, from earlier steps or from the move to
  // another plan. A state without values must be initialised or written.
  ModelState(Program const& program, Tiers const& tiers, int rank, bool is_there = false);

  // Returns which elements of a parameter the rank has.
  ElementRange owned(int chunk, int parameter) const {
    return of_parameter(chunk, parameter, slice(chunk));
  }
  // Returns the shape of a parameter's `part`: that of the parameter, or the number of blocks of
  // its elements if they share the part's elements (`block_elements`), or how many elements the
  // part has of its own (State::parts).
  Shape shape_of(std::string_view part, int chunk, int parameter) const;
  // Returns which elements of the part belong to elements `range` of a parameter. Of parts of a
  // parameter that join without a gap, each block belongs to where it begins. What has elements of
  // its own belongs to the parameter's first.
  ElementRange of_part(std::string_view part, int chunk, int parameter,
                       ElementRange const& range) const;
  // Returns how ranks part the chunk, and which elements of a parameter are in the slice of it with
  // this number (Sharing::summed_number). No two slices have the same element.
  Sharing sharing(int chunk) const { return sharing_of(m_program, chunk); }
  ElementRange in_slice(int chunk, int parameter, std::int64_t number) const;
  // Returns whether ranks keep all of the chunk's parameters beside what they own: then all of them
  // must be written on every rank.
  bool keeps_all(int chunk) const;

  // Gives all masters initial values, which are equal on all ranks. Moments are zero then: in the
  // spill file they are written, and memory must be as Arena and DeviceMemory::commit promise it.
  void initialise(std::uint64_t seed);
  // The same for those parameters alone of whose names `wants` returns true. Others, and moments,
  // stay as they are.
  void initialise(std::uint64_t seed, std::function<bool(std::string const&)> const& wants);
  // Returns a checksum of what `initialise` makes the values of: how each parameter begins, and
  // what numbers this machine draws for the seed.
  std::string checksum_of_start(std::uint64_t seed) const;

  // `read` and `write` copy elements, from `first` on, of a parameter's master or moment `part`.
  // The rank must own what is read. Of what is written the rank keeps what is its own or, of
  // parameters, what all ranks keep.
  void read(std::string_view part, int chunk, int parameter, std::int64_t first,
            std::span<float> to);
  void write(std::string_view part, int chunk, int parameter, std::int64_t first,
             std::span<float const> from);
  // Returns the type that a chunk stores `part` in (kParameter, kWholeParameter or a State's name),
  // or nothing if the chunk has no such part.
  std::optional<DType> stored_type(std::string_view part, int chunk);
  // Returns the bytes of elements of a parameter's `part`, as they are stored, from the part's
  // element `first` on: up to `count` elements, but at least one. The rank must have them. The
  // bytes are valid until the next call of a function of this class, and changes to them are kept
  // only if `changes` is true.
  std::span<std::byte> stored(std::string_view part, int chunk, int parameter, std::int64_t first,
                              std::int64_t count, bool changes);
  // Sets to zero all state that was never written, and writes changes back to the spill file. Call
  // this after the last write.
  void complete();
  // Frees all windows, so that later reads see what steps have changed. Call this after reads and
  // before the next step.
  void release();

  IdVector<Chunk> const& chunks() const { return m_program.chunks; }

 private:
  struct ChunkState {
    StoredTensor parameter;            // absent if every rank keeps its slice alone
    StoredTensor slice;                // present if ranks share out the chunk
    std::vector<StoredTensor> states;  // holds the tensors of Chunk::states in order
  };
  ChunkState& open(int chunk);
  StoredTensor* find(std::string_view part, int chunk);
  StoredPart locate(std::string_view part, int chunk, std::int64_t first, bool changes);
  Parameter const& parameter_of(int chunk, int parameter) const {
    return m_program.chunks[chunk].parameters[static_cast<std::size_t>(parameter)];
  }
  void put_bytes(int chunk, std::int64_t begin, std::span<std::byte const> bytes);
  void write_quantized(int chunk, Parameter const& parameter, std::int64_t first,
                       std::span<float const> from);
  void read_quantized(int chunk, Parameter const& parameter, std::int64_t first,
                      std::span<float> to);
  void draw_quantized(int chunk, Parameter const& parameter, std::uint64_t seed,
                      std::uint64_t number);
  void draw(Chunk const& chunk, Parameter const& parameter, std::uint64_t seed,
            std::uint64_t number);

  // Returns how many of the chunk's elements share an element of `part`.
  std::int64_t block_of(std::string_view part, int chunk) const;
  // Returns which elements of a state belong to a parameter, if the state has parts of its own.
  std::optional<ElementRange> own_part(std::string_view part, int chunk, int parameter) const;
  // Returns how many elements of a state belong to a parameter, if not as many as it has itself.
  std::optional<std::int64_t> other_elements(std::string_view part, int chunk, int parameter) const;
  // Returns where in what the chunk stores of `part` an element of a parameter is.
  std::int64_t stored_at(std::string_view part, int chunk, int parameter,
                         std::int64_t element) const;
  // Returns the range of the chunk's elements that the rank has.
  ElementRange slice(int chunk) const;
  // Returns which of a parameter's elements are in a range of its chunk's elements.
  ElementRange of_parameter(int chunk, int parameter, ElementRange const& range) const;
  // Returns where the copy of the chunk's parameters that all ranks keep has element `first`.
  StoredPart locate_whole(int chunk, std::int64_t first);

  Program const& m_program;
  int m_rank;
  std::vector<ChunkState> m_chunks;
  int m_open = -1;                       // names the chunk that may have windows, or is -1
  std::optional<Quantizer> m_quantizer;  // of the parameter that is being written
};

}  // namespace spillway
