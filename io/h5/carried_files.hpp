// Small files that a checkpoint carries for the one who exports its model: what lay beside the
// weights that it was imported from. A run hands them on from checkpoint to checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spillway {

// They lie in this folder of a checkpoint or of a run directory. It is one of ours if it has the
// file of the tensors' types; another is nobody's that carries anything.
inline constexpr char const *kCarriedFolder = "huggingface", *kTypesFile = "tensor-types.json";
inline constexpr std::int64_t kMostCarriedBytes = 64 << 20;  // of one of them
inline constexpr std::size_t kMostCarriedFiles = 32;

// Paths of those that `directory` carries, sorted; empty where it carries nothing. Throws
// Error(damaged) for what is no plain file of a small size, or one too many.
std::vector<std::filesystem::path> carried_files(std::filesystem::path const& directory);

// Makes `to` carry what `from` does, and nothing else; an empty `from` carries nothing. Returns
// when that is on storage. Throws as above, and Error(storage); Error(bad_input) where `to` has a
// folder of the name that is not ours.
void carry_files(std::filesystem::path const& from, std::filesystem::path const& to);

// Writes one of them into `directory`, durably. The file of the types must be the first. Throws
// Error(storage).
void write_carried(std::filesystem::path const& directory, std::string const& name,
                   std::string const& text);

}  // namespace spillway
