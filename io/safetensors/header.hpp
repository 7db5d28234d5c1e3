// Turns the header of a safetensors file from text into values and back. No files are read here.
//
//   {"<name>": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, ...,
//    "__metadata__": {"format": "pt"}}
//
// data_offsets are counted from the header's end, in bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

// A header's text is preceded by its length, in kLengthBytes bytes. Headers of more than
// kMostHeaderBytes are refused; no file with such a header is known.
inline constexpr std::int64_t kLengthBytes = 8;
inline constexpr std::int64_t kMostHeaderBytes = 32 << 20;

inline constexpr char const* kMetadata = "__metadata__";

struct PlacedTensor {
  TensorEntry entry;
  std::int64_t begin_bytes = 0, end_bytes = 0;  // counted from the header's end

  bool operator==(PlacedTensor const&) const = default;
};

struct SafetensorsHeader {
  std::vector<PlacedTensor> tensors;  // parse_header sorts them by begin_bytes
  std::map<std::string, std::string> metadata;

  bool operator==(SafetensorsHeader const&) const = default;
};

// Parses a header. `data_bytes` follow it in its file, and each of these bytes must belong to
// exactly one tensor. Throws Error that begins with `source` and, if one tensor is at fault, names
// it: bad_input for a dtype that this program does not know, damaged for all else that is wrong.
SafetensorsHeader parse_header(std::string_view json, std::int64_t data_bytes,
                               std::string const& source);

// Places the tensors one after the other, in this order, from the header's end on.
std::vector<PlacedTensor> placed(std::span<TensorEntry const> entries);

// Returns the beginning of a file: the header's length and its text. Their size together is a
// multiple of 8 bytes, so that the data is aligned.
std::string header_bytes(SafetensorsHeader const& header);

}  // namespace spillway
