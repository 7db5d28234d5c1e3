// HDF5 files that no writer of ours makes, added to files that one has made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace spillway::test {

// "/soft", a link to /group, and "/external", one to /group of target.h5.
void add_links(std::filesystem::path const& file);

// In place of /<name>: an external link to /<name> of `other`.
void replace_by_link(std::filesystem::path const& file, std::string const& name,
                     std::string const& other);

enum class Oddity : std::uint8_t { scalar, null, huge };  // huge: 2^40 rows, of which none is there
// In place of a dataset of int64.
void replace_by_oddity(std::filesystem::path const& file, std::string const& name, Oddity oddity);

}  // namespace spillway::test
