#include "io/parquet/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "io/parquet/row_text.hpp"

namespace spillway {
namespace {

// A Node is an element of the schema, with those below it.
struct Node {
  carquet_schema_node_t const* element;
  std::int32_t column = -1;  // of a leaf
  std::vector<Node> below = {};

  bool is_repeated() const { return repetition() == CARQUET_REPETITION_REPEATED; }
  bool is_optional() const { return repetition() == CARQUET_REPETITION_OPTIONAL; }
  bool is_leaf() const { return column >= 0; }
  std::string_view name() const { return carquet_schema_node_name(element); }
  bool is_annotated(carquet_logical_type_id_t id) const {
    auto const* const type = carquet_schema_node_logical_type(element);
    return type != nullptr && type->id == id;
  }

 private:
  carquet_field_repetition_t repetition() const { return carquet_schema_node_repetition(element); }
};

// The elements come in the order of a walk down the tree: before a leaf stand the groups that begin
// with it, and its path says how deep it lies.
class Tree {
 public:
  explicit Tree(TableFile const& table) : m_table(table), m_schema(table.schema()) {
    constexpr std::int32_t most_columns = 10'000;
    if (carquet_schema_num_columns(&m_schema) > most_columns)
      m_table.refuse(fmt::format("has more than {} columns", most_columns));
    auto const elements = carquet_schema_num_elements(&m_schema);
    for (std::int32_t i = 1; i < elements; ++i) {
      auto const* const element = carquet_schema_get_element(&m_schema, i);
      if (element == nullptr) refuse();
      if (carquet_schema_node_is_leaf(element))
        add_leaf(element);
      else
        m_begun.push_back(element);
    }
    if (!m_begun.empty() || m_columns != carquet_schema_num_columns(&m_schema)) refuse();
  }
  std::vector<Node> take() { return std::move(m_top); }

 private:
  void add_leaf(carquet_schema_node_t const* leaf) {
    if (m_columns >= carquet_schema_num_columns(&m_schema)) refuse();
    auto const path = path_of(m_schema, m_columns);
    auto const above = path.size() - 1 - m_begun.size();  // groups that began with other leaves
    if (path.empty() || path.size() <= m_begun.size()) refuse();
    auto* at = &m_top;
    for (std::size_t depth = 0; depth + 1 < path.size(); ++depth) {
      if (depth >= above) at->push_back({m_begun[depth - above]});
      if (at->empty() || at->back().is_leaf() || at->back().name() != path[depth]) refuse();
      at = &at->back().below;
    }
    at->push_back({leaf, m_columns++});
    if (at->back().name() != path.back()) refuse();
    m_begun.clear();
  }
  [[noreturn]] void refuse() const { m_table.damaged("its schema contradicts itself"); }

  TableFile const& m_table;
  carquet_schema_t const& m_schema;
  std::vector<Node> m_top;
  std::vector<carquet_schema_node_t const*> m_begun;
  std::int32_t m_columns = 0;
};

Scalar integer_of(carquet_logical_type_t const* type, Scalar with_sign, Scalar without) {
  if (type == nullptr) return with_sign;
  if (type->id != CARQUET_LOGICAL_INTEGER) return Scalar::none;  // a date, a time, a decimal number
  return type->params.integer.is_signed ? with_sign : without;
}

// Bytes are text only if the program that wrote them says so.
bool is_text(carquet_logical_type_t const* type) {
  return type != nullptr && (type->id == CARQUET_LOGICAL_STRING ||
                             type->id == CARQUET_LOGICAL_ENUM || type->id == CARQUET_LOGICAL_JSON);
}

Scalar scalar_of(carquet_schema_node_t const* leaf) {
  auto const* const type = carquet_schema_node_logical_type(leaf);
  switch (carquet_schema_node_physical_type(leaf)) {
    case CARQUET_PHYSICAL_BYTE_ARRAY:
      return is_text(type) ? Scalar::text : Scalar::none;
    case CARQUET_PHYSICAL_INT32:
      return integer_of(type, Scalar::int32, Scalar::uint32);
    case CARQUET_PHYSICAL_INT64:
      return integer_of(type, Scalar::int64, Scalar::uint64);
    case CARQUET_PHYSICAL_FLOAT:
      return Scalar::single;
    case CARQUET_PHYSICAL_DOUBLE:
      return Scalar::twice;
    case CARQUET_PHYSICAL_BOOLEAN:
      return Scalar::truth;
    case CARQUET_PHYSICAL_INT96:
    case CARQUET_PHYSICAL_FIXED_LEN_BYTE_ARRAY:
      break;
  }
  return Scalar::none;
}

constexpr std::int32_t kMostValueBytes = 1 << 16;

// Returns how many bytes a value has as carquet gives it, or 0 if those are too many.
std::size_t value_bytes_of(carquet_schema_node_t const* leaf) {
  auto const type = carquet_schema_node_physical_type(leaf);
  if (type == CARQUET_PHYSICAL_BYTE_ARRAY) return sizeof(carquet_byte_array_t);
  auto const bytes = type == CARQUET_PHYSICAL_FIXED_LEN_BYTE_ARRAY
                         ? carquet_schema_node_type_length(leaf)
                         : carquet_physical_type_size(type);
  return bytes > 0 && bytes <= kMostValueBytes ? static_cast<std::size_t>(bytes) : 0;
}

// The levels of what stands around a field: from which on that is there, and how often it repeats.
struct Levels {
  int defined = 0, repeated = 0;

  Levels in_list() const { return {defined + 1, repeated + 1}; }
};

TableField field_of(Node const& node, Levels levels);

// Returns the field of a node that is there at these levels.
TableField present(Node const& node, Levels levels);

// A list is a group with a repeated group of one field, or what older programs have written, by the
// rules of the format's documentation.
TableField element_of(Node const& list, Node const& repeated, Levels levels) {
  bool const is_element = repeated.below.size() != 1 || repeated.name() == "array" ||
                          repeated.name() == std::string(list.name()) + "_tuple";
  return is_element ? present(repeated, levels) : field_of(repeated.below.front(), levels);
}

TableField list_of(Levels levels, TableField element) {
  TableField list{.kind = TableField::Kind::list,
                  .defined = levels.defined,
                  .repeated = levels.repeated + 1,
                  .column = element.column,
                  .columns = element.columns};
  list.parts.push_back(std::move(element));
  return list;
}

TableField object_of(Node const& node, Levels levels) {
  TableField object{.kind = TableField::Kind::object, .defined = levels.defined};
  for (auto const& below : node.below) {
    auto part = field_of(below, levels);
    if (object.columns == 0) object.column = part.column;
    object.columns += part.columns;
    part.key = text_as_json(below.name()) + ":";
    object.parts.push_back(std::move(part));
  }
  return object;
}

TableField present(Node const& node, Levels levels) {
  if (node.is_leaf())
    return {.scalar = scalar_of(node.element),
            .defined = levels.defined,
            .column = node.column,
            .columns = 1,
            .value_bytes = value_bytes_of(node.element)};
  bool const is_list = node.is_annotated(CARQUET_LOGICAL_LIST),
             is_map = node.is_annotated(CARQUET_LOGICAL_MAP);
  if ((is_list || is_map) && node.below.size() == 1 && node.below.front().is_repeated()) {
    auto const& repeated = node.below.front();
    auto const inner = levels.in_list();
    return list_of(levels, is_list ? element_of(node, repeated, inner) : present(repeated, inner));
  }
  return object_of(node, levels);
}

TableField field_of(Node const& node, Levels levels) {
  if (node.is_repeated()) return list_of(levels, present(node, levels.in_list()));
  if (node.is_optional()) ++levels.defined;
  return present(node, levels);
}

// Throws unless carquet counts levels as these fields do.
void require_levels(TableFile const& table, TableField const& field, int repeated) {
  auto const& schema = table.schema();
  if (field.kind == TableField::Kind::list) repeated = field.repeated;
  for (auto const& part : field.parts) require_levels(table, part, repeated);
  if (field.kind == TableField::Kind::scalar &&
      (field.defined != carquet_schema_max_def_level(&schema, field.column) ||
       repeated != carquet_schema_max_rep_level(&schema, field.column)))
    table.damaged("its schema contradicts itself");
}

}  // namespace

bool TableField::is_known() const {
  if (kind == Kind::scalar) return scalar != Scalar::none;
  return std::ranges::any_of(parts, &TableField::is_known);
}

std::vector<TableField> fields_of(TableFile const& table) {
  std::vector<TableField> fields;
  for (auto const& node : Tree(table).take()) {
    fields.push_back(field_of(node, {}));
    require_levels(table, fields.back(), 0);
    fields.back().key = text_as_json(node.name()) + ":";
  }
  return fields;
}

}  // namespace spillway
