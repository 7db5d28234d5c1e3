// All that a checkpoint says of itself besides the values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct TensorInfo {
  std::string group;                // "model" | "optimizer/m" | "optimizer/v"
  std::string name;                 // without '/'; the Hugging Face name for parameters
  std::vector<std::int64_t> shape;  // at least one axis, none of them empty

  bool operator==(TensorInfo const&) const = default;
};

struct CarriedSum {
  std::int64_t bytes = 0;
  std::string checksum;

  bool operator==(CarriedSum const&) const = default;
};
using CarriedSums = std::map<std::string, CarriedSum>;  // by name (carried_files.hpp)

struct CheckpointIndex {
  struct Shard {
    int rank = 0;  // that wrote it
    std::int64_t bytes = 0;
    std::string rest;  // checksum of all that is no value; empty: not known
  };
  // Elements [first, first + elements) of a tensor, in row-major order: float32, contiguous in a
  // shard.
  struct Extent {
    std::size_t tensor = 0;
    std::int64_t first = 0, elements = 0;
    std::size_t shard = 0;
    std::int64_t offset_bytes = 0;
    std::string checksum;  // 16 hexadecimal digits
  };

  std::map<std::string, std::string> run_strings;
  std::vector<Shard> shards;
  std::vector<TensorInfo> tensors;
  std::vector<Extent> extents;  // by tensor and first element; they do not overlap
  CarriedSums carried;          // in the seal of the whole only
};

// As a text. Every number and name in it is checked where it is read: Error(damaged) that begins
// with `source`.
std::string to_json(CheckpointIndex const& index);
CheckpointIndex index_from_json(std::string const& text, std::string const& source);

// Throws Error(damaged) that begins with `source` unless the extents are every tensor whole.
void require_whole(CheckpointIndex const& index, std::string const& source);

// The number of elements. Throws Error(damaged) that begins with `what` for a shape that no tensor
// of a checkpoint has.
std::int64_t checked_elements(std::span<std::int64_t const> shape, std::string const& what);

}  // namespace spillway
