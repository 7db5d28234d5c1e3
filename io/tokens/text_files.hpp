// The files of which token files are made. Only for this folder's sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace spillway {

struct TextFiles {
  std::vector<std::filesystem::path> files;  // none is empty; "-" is stdin
  std::int64_t empty_files = 0;              // how many were left out
};

// Opens every input and finds its size, before anything is written. Throws Error(bad_input) if one
// cannot be read or has bytes though its size is 0, or if there is no byte at all.
TextFiles survey(std::span<std::filesystem::path const> files);

}  // namespace spillway
