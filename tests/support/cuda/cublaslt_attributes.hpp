// Sets and reads attributes of cublasLt's objects. Each kind of object has a table of them.
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
  // Says where the object holds it; `bytes` is 0 if the stand-in lacks this attribute.
  std::size_t offset = 0, bytes = 0;
  bool read_only = false;
  // The values that the stand-in supports; empty if it supports all of them.
  std::vector<std::int64_t> allowed = {};
};

std::span<Attribute const> attributes(LtMatmul const&);
std::span<Attribute const> attributes(LtLayout const&);
std::span<Attribute const> attributes(LtPreference const&);
std::span<Attribute const> attributes(Algorithm const&);

// These throw Refused. set_attribute returns false if the attribute had this value before.
bool set_attribute(std::span<Attribute const> table, void* object, int id, void const* value,
                   std::size_t bytes);
void get_attribute(std::span<Attribute const> table, void const* object, int id, void* value,
                   std::size_t bytes, std::size_t* written);

}  // namespace spillway::test::cuda
