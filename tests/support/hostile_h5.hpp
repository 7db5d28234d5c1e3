// Changes HDF5 files in ways in which the program never writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace spillway::test {

// Adds two links to the file: a soft link "/soft", which leads to /group, and an external link
// "/external", which leads to /group in the file target.h5.
void add_links(std::filesystem::path const& file);

// Replaces /`name` by an external link to the object of the same name in the file `other`.
void replace_by_link(std::filesystem::path const& file, std::string const& name,
                     std::string const& other);

// `huge` has 2^40 rows, of which none is stored.
enum class Oddity : std::uint8_t { scalar, null, huge };
// Replaces /`name` by a dataset of int64 whose dataspace is scalar, null or huge.
void replace_by_oddity(std::filesystem::path const& file, std::string const& name, Oddity oddity);

}  // namespace spillway::test
