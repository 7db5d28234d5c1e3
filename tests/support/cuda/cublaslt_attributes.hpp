// Attributes of cublasLt's objects: one table an object, and how they are set and read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/cuda/cublaslt_algorithms.hpp"
#include "tests/support/cuda/lt_objects.hpp"

namespace spillway::test::cuda {

struct Attribute {
  int id;
  char const* name;
  std::size_t offset = 0, bytes = 0;  // in its object; no bytes: the stand-in does without it
  bool read_only = false;
  std::vector<std::int64_t> allowed = {};  // what the stand-in can do; empty: all
};

std::span<Attribute const> attributes(LtMatmul const&);
std::span<Attribute const> attributes(LtLayout const&);
std::span<Attribute const> attributes(LtPreference const&);
std::span<Attribute const> attributes(Algorithm const&);

// These throw Refused. Setting returns false if the attribute had that value before.
bool set_attribute(std::span<Attribute const> table, void* object, int id, void const* value,
                   std::size_t bytes);
void get_attribute(std::span<Attribute const> table, void const* object, int id, void* value,
                   std::size_t bytes, std::size_t* written);

}  // namespace spillway::test::cuda
