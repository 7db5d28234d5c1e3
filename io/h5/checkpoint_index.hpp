// A CheckpointIndex says which tensors a checkpoint has and where their values lie, and holds texts
// that describe the run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/tensors/element_type.hpp"

namespace spillway {

struct TensorInfo {
  std::string group;                    // "model" | "optimizer/<state>"
  std::string name;                     // without '/'; the Hugging Face name for parameters
  std::vector<std::int64_t> shape;      // at least one axis, and none of length 0
  ElementType type = ElementType::f32;  // f32, bf16 or i16

  bool operator==(TensorInfo const&) const = default;
};

struct CarriedSum {
  std::int64_t bytes = 0;
  std::string checksum;

  bool operator==(CarriedSum const&) const = default;
};
using CarriedSums = std::map<std::string, CarriedSum>;  // keys are names of carried files

struct CheckpointIndex {
  struct Shard {
    int rank = 0;  // the rank that wrote it
    std::int64_t bytes = 0;
    std::string other_bytes_checksum;  // of all bytes but the values; "" if it is not known
  };
  // An Extent has elements [first, first + elements) of a tensor, in row-major order. They are
  // contiguous in a shard, and consist of blocks of `block_elements`, the last of which may have
  // fewer elements.
  struct Extent {
    std::size_t tensor = 0;
    std::int64_t first = 0, elements = 0;
    std::size_t shard = 0;
    std::int64_t offset_bytes = 0;
    std::int64_t block_elements = 0;  // until version 3 it is `elements`
    std::string checksums;            // XXH3-64 of each block, as 16 hexadecimal digits
  };

  std::map<std::string, std::string> run_strings;
  std::vector<Shard> shards;
  std::vector<TensorInfo> tensors;
  std::vector<Extent> extents;  // sorted by tensor and first element; they do not overlap
  CarriedSums carried;          // empty in the index of a single shard
};

// to_json turns the index, without `carried`, into a text, and index_from_json turns such a text
// into an index. The latter checks every number and name, and throws Error(damaged) that begins
// with `source`.
std::string to_json(CheckpointIndex const& index);
CheckpointIndex index_from_json(std::string const& text, std::string const& source);

// Returns a checksum of the names and of the checksums of all values: where it is equal, so are the
// tensors. It costs no reading of values.
std::string checksum_of(CheckpointIndex const& index);

// Throws Error(damaged) that begins with `source` unless the extents cover every tensor completely.
void require_whole(CheckpointIndex const& index, std::string const& source);

inline constexpr std::int64_t kChecksumDigits = 16;

// Returns the number of elements of a tensor with this shape. Throws Error(damaged) that begins
// with `what` if no tensor of a checkpoint can have this shape.
std::int64_t checked_elements(std::span<std::int64_t const> shape, std::string const& what);

}  // namespace spillway
