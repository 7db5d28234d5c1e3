// Makes the tables of docs/outputs.md of schemas.
#pragma once

#include <span>
#include <string>

#include "tests/support/json_schema.hpp"

namespace spillway::test {

// Returns a section about the schema: what it describes, and a table of its fields; parts that are
// used in several places ("$defs") are named only.
std::string schema_section(OrderedJson const& schema);
// Returns a section with the tables of the parts of all schemas. Throws std::logic_error if two
// schemas have unequal parts of one name.
std::string parts_section(std::span<OrderedJson const* const> schemas);

}  // namespace spillway::test
