// Finds out by trying what this machine offers for fast storage I/O, for `spillway doctor`. Nothing
// here throws: what does not work is recorded, with advice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct io_uring_probe;

namespace spillway {

struct RingProbe {
  int setup_error = 0;         // errno of io_uring_setup; 0 if rings work
  bool fixed_buffers = false;  // whether a buffer of register_bytes could be registered
  int register_error = 0;
  std::int64_t register_bytes = 0;
  // This program uses these features and operations, and the kernel lacks them.
  std::vector<std::string> missing_features, missing_operations;
  std::optional<std::int64_t> memlock_bytes;  // RLIMIT_MEMLOCK; empty if unlimited
  std::vector<std::string> advice;            // what to change, one line each
};

// Sets up a small ring and registers a buffer of `register_bytes`.
RingProbe probe_ring(std::int64_t register_bytes = 16 << 20);

// Names the features that this program uses of a ring and that are not in `features`
// (IORING_FEAT_...).
std::vector<std::string> missing_features(unsigned features);
// Names the operations that this program uses and that are not among those that the kernel offers.
std::vector<std::string> missing_operations(io_uring_probe const& offered);
// Says what to change if a ring could be set up and something else is missing.
std::vector<std::string> ring_advice(RingProbe const& probe);

// setup_advice returns one line about an errno of setting up a ring, register_advice one about an
// errno of registering `bytes` with a ring.
std::string setup_advice(int error);
std::string register_advice(std::int64_t bytes, int error);

struct DirectoryProbe {
  std::string file_system;  // such as "ext4" or "tmpfs"; "0x<magic>" if the name is not known
  std::int64_t free_bytes = 0;
  int write_error = 0;   // errno of making a file; 0 if the directory can be written
  int direct_error = 0;  // errno of opening or writing with O_DIRECT; 0 if it works
  std::int64_t direct_alignment_bytes = 0;  // smallest that works, 512 to 65536; 0 if none does
  std::vector<std::string> advice;
};

// file_system_of returns the name of the file system on which a directory lies, or "" if there is
// no such directory. file_system_name returns the name for the magic number that statfs gives.
std::string file_system_of(std::filesystem::path const& directory);
std::string file_system_name(long magic);
// Returns a line of advice if `directory` lies on a file system that is in main memory or on
// another node, and not on a drive of this node. Returns "" otherwise.
std::string place_advice(std::string const& directory, std::string const& file_system);

// Returns advice that follows from what was found about a directory.
std::vector<std::string> directory_advice(std::filesystem::path const& directory,
                                          DirectoryProbe const& probe);

// Examines a directory. Writes a small file without a name in it, which is gone afterwards.
DirectoryProbe probe_directory(std::filesystem::path const& directory);

}  // namespace spillway
