// Says how the columns of a table make the fields of a record; only for this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/parquet/table_file.hpp"

namespace spillway {

// none: the values are of no type that a record has, and null.
enum class Scalar : std::uint8_t { none, text, int32, int64, uint32, uint64, single, twice, truth };

// A field is there where the definition level of its columns is `defined` or more. Parquet keeps a
// column for each scalar; those of the scalars in a list or an object stand side by side.
struct TableField {
  enum class Kind : std::uint8_t { scalar, list, object };

  std::string key = {};  // its name and a colon, as JSON has them
  Kind kind = Kind::scalar;
  Scalar scalar = Scalar::none;
  int defined = 0;
  int repeated = 0;                      // the repetition level of a list's further elements
  std::int32_t column = 0, columns = 0;  // the first, and how many
  std::size_t value_bytes = 0;         // of a scalar, as carquet gives them; 0 if they are too many
  std::vector<TableField> parts = {};  // of an object, or the element of a list

  // Returns whether it has anything that is not null.
  bool is_known() const;
};

// Returns the fields of all columns. Throws Error: damaged if the schema contradicts itself,
// bad_input if it has too many of them.
std::vector<TableField> fields_of(TableFile const& table);

}  // namespace spillway
