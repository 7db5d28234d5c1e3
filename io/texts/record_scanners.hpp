// How records lie in files of JSON; only for this folder's sources.
#pragma once

#include <filesystem>
#include <memory>

#include "io/texts/record_blocks.hpp"

namespace spillway {

// Each line is a record.
std::unique_ptr<RecordScanner> scan_lines();
// The elements of a list are records. `path` is for messages.
std::unique_ptr<RecordScanner> scan_list(std::filesystem::path path);

}  // namespace spillway
