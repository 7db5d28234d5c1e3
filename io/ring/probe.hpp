// Finds out by trials what this machine offers for fast storage I/O. What does not work is
// recorded, with advice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct io_uring_probe;

namespace spillway {

struct RingProbe {
  int setup_error = 0;         // errno of io_uring_setup; 0 if it works
  bool fixed_buffers = false;  // whether a buffer of register_bytes could be registered
  int register_error = 0;
  std::int64_t register_bytes = 0;
  // This program uses these features and operations, and the kernel lacks them.
  std::vector<std::string> missing_features, missing_operations;
  std::optional<std::int64_t> memlock_bytes;  // RLIMIT_MEMLOCK; empty if unlimited
  std::vector<std::string> advice;            // what to change, one line each
};

// Sets up a small io_uring and registers a buffer of `register_bytes` with it.
RingProbe probe_ring(std::int64_t register_bytes = 16 << 20);

// Returns the names of the io_uring features that this program uses and whose bits
// (IORING_FEAT_...) `features` lacks.
std::vector<std::string> missing_features(unsigned features);
// Returns the names of the io_uring operations that this program uses and the kernel does not
// offer.
std::vector<std::string> missing_operations(io_uring_probe const& offered);
// Returns advice about what is missing on a machine where an io_uring could be set up.
std::vector<std::string> ring_advice(RingProbe const& probe);

// setup_advice returns one line of advice for the errno with which setting up an io_uring failed,
// register_advice one for the errno with which registering `bytes` failed.
std::string setup_advice(int error);
std::string register_advice(std::int64_t bytes, int error);

struct DirectoryProbe {
  std::string file_system;  // such as "ext4"; "0x<statfs magic>" if unknown, "" if statfs fails
  std::int64_t free_bytes = 0;
  int write_error = 0;   // errno of making a file; 0 if the directory can be written
  int direct_error = 0;  // errno of opening or writing with O_DIRECT; 0 if both work
  std::int64_t direct_alignment_bytes = 0;  // smallest that works, 512 to 65536; 0 if none does
  std::vector<std::string> advice;
};

// file_system_of returns the name of the file system on which a directory lies, or "" if statfs
// fails. file_system_name returns the name for the magic number that statfs gives.
std::string file_system_of(std::filesystem::path const& directory);
std::string file_system_name(long magic);
// Returns a line of advice if `directory` lies on a file system that is in main memory or on
// another node, and not on a drive of this node. Returns "" otherwise.
std::string place_advice(std::string const& directory, std::string const& file_system);

// Returns lines of advice about a directory, given what `probe` says of it.
std::vector<std::string> directory_advice(std::filesystem::path const& directory,
                                          DirectoryProbe const& probe);

// Examines a directory by trials. Writes a small file without a name, which is gone afterwards.
DirectoryProbe probe_directory(std::filesystem::path const& directory);

}  // namespace spillway
