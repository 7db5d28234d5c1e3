// Reads and writes model.safetensors.index.json, which says which file of its directory holds which
// tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr char const* kWeightFile = "model.safetensors";
inline constexpr char const* kIndexFile = "model.safetensors.index.json";
inline constexpr std::int64_t kMostIndexBytes = 64 << 20;

struct WeightIndex {
  std::map<std::string, std::string> files;  // maps tensors to file names (never paths)
  std::int64_t total_bytes = 0;              // written, but never read: many files have it wrong
};

// Parses an index. Throws Error(damaged) that begins with `source` if it is not JSON, if it does
// not have exactly one weight_map, if a tensor is named twice or has an impossible name, or if the
// file of a tensor is given as a path (with '/', or "..").
WeightIndex parse_index(std::string_view json, std::string const& source);

std::string index_text(WeightIndex const& index);

// Returns a name such as "model-00002-of-00003.safetensors". `number` is counted from 1.
std::string shard_file(std::size_t number, std::size_t count);

}  // namespace spillway
