// What this machine offers to fast storage I/O: plain data, found by trying, for `doctor`. Nothing
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
  int setup_error = 0;         // errno of io_uring_setup; 0: rings work
  bool fixed_buffers = false;  // a buffer of register_bytes could be registered
  int register_error = 0;
  std::int64_t register_bytes = 0;
  std::vector<std::string> missing_features, missing_operations;  // of those we want
  std::optional<std::int64_t> memlock_bytes;  // RLIMIT_MEMLOCK; empty: unlimited
  std::vector<std::string> advice;            // one line each: what to change
};

// Sets up a small ring and registers a buffer of `register_bytes`.
RingProbe probe_ring(std::int64_t register_bytes = 16 << 20);

// Names the features that we want of a ring and that its `features` (IORING_FEAT_...) lack.
std::vector<std::string> missing_features(unsigned features);
// Names the operations that we want and `offered`, what a kernel says that it has, lacks.
std::vector<std::string> missing_operations(io_uring_probe const& offered);
// Says what to change where a ring could be set up.
std::vector<std::string> ring_advice(RingProbe const& probe);

// One line about an errno of setting up a ring, or of registering so many bytes with it.
std::string setup_advice(int error);
std::string register_advice(std::int64_t bytes, int error);

struct DirectoryProbe {
  std::string file_system;  // "ext4", "tmpfs", ...; "0x<magic>" where the name is not known
  std::int64_t free_bytes = 0;
  int write_error = 0;   // errno of making a file; 0: writable
  int direct_error = 0;  // errno of opening or writing with O_DIRECT; 0: it works
  std::int64_t direct_alignment_bytes = 0;  // smallest of 512 ... 64 KiB that works; 0: none
  std::vector<std::string> advice;
};

// The file system below a directory, named as in a DirectoryProbe, or by its magic number; "" where
// there is no such directory.
std::string file_system_of(std::filesystem::path const& directory);
std::string file_system_name(long magic);
// A line about spilling to such a file system that is no drive of this node: main memory, or
// another node's. "" for the others.
std::string place_advice(std::string const& directory, std::string const& file_system);

// Says of a directory what follows from what was found.
std::vector<std::string> directory_advice(std::filesystem::path const& directory,
                                          DirectoryProbe const& probe);

// Writes (and removes) a small file without a name in `directory`.
DirectoryProbe probe_directory(std::filesystem::path const& directory);

}  // namespace spillway
