// All that a checkpoint says of itself besides the values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct TensorInfo {
  std::string group, name;
  std::vector<std::int64_t> shape;  // at least one axis, none of them empty
};

struct CheckpointIndex {
  struct Shard {
    int rank = 0;  // that wrote it
    std::int64_t bytes = 0;
    std::string rest;  // checksum of all that is no value; empty: not known
  };
  // The values of a tensor: float32, contiguous.
  struct Place {
    std::size_t shard = 0;
    std::int64_t offset_bytes = 0;
    std::string checksum;  // 16 hexadecimal digits
  };

  std::map<std::string, std::string> run_strings;
  std::vector<Shard> shards;
  std::vector<TensorInfo> tensors;
  std::vector<Place> places;  // of tensors
};

// As a text. Every number and name in it is checked where it is read: Error(damaged) that begins
// with `source`.
std::string to_json(CheckpointIndex const& index);
CheckpointIndex index_from_json(std::string const& text, std::string const& source);

// The number of elements. Throws Error(damaged) that begins with `what` for a shape that no tensor
// of a checkpoint has.
std::int64_t checked_elements(std::span<std::int64_t const> shape, std::string const& what);

}  // namespace spillway
