// model.safetensors.index.json: which file of its directory holds which tensor.
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
  std::map<std::string, std::string> files;  // by tensor: a name, never a path
  std::int64_t total_bytes = 0;              // written for others; not read, for many are wrong
};

// Throws Error(damaged) that begins with `source` and names the tensor whose file is a path (with
// '/', or ".."), or which is named twice.
WeightIndex parse_index(std::string_view json, std::string const& source);

std::string index_text(WeightIndex const& index);

// "model-00002-of-00003.safetensors"; number from 1.
std::string shard_file(std::size_t number, std::size_t count);

}  // namespace spillway
