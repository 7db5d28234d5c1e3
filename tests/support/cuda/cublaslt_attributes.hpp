// Sets and reads attributes of cublasLt's objects. Each kind of object has a table of its
// attributes.
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
  // `offset` says where in the object the attribute's value is. `bytes` is the size of the value,
  // or 0 if the stand-in lacks the attribute.
  std::size_t offset = 0, bytes = 0;
  bool read_only = false;
  // The values that the stand-in supports; empty if it supports all of them.
  std::vector<std::int64_t> allowed = {};
};

std::span<Attribute const> attributes(LtMatmul const&);
std::span<Attribute const> attributes(LtLayout const&);
std::span<Attribute const> attributes(LtPreference const&);
std::span<Attribute const> attributes(Algorithm const&);

// Both functions throw Refused if the stand-in lacks the attribute, if `bytes` is not its size, or
// if `value` is null; set_attribute() also if the attribute is read-only or the value is not
// allowed. set_attribute() returns false if the attribute had this value before. If `bytes` is 0,
// get_attribute() only writes the attribute's size to `written`.
bool set_attribute(std::span<Attribute const> table, void* object, int id, void const* value,
                   std::size_t bytes);
void get_attribute(std::span<Attribute const> table, void const* object, int id, void* value,
                   std::size_t bytes, std::size_t* written);

}  // namespace spillway::test::cuda
