// Checks JSON against a schema of docs/schemas, which uses some of JSON Schema's words.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace spillway::test {

using OrderedJson = nlohmann::ordered_json;

class JsonSchema {
 public:
  // Throws std::logic_error if the schema has a word that is not checked here.
  explicit JsonSchema(std::filesystem::path path);
  JsonSchema(JsonSchema const&) = delete;
  JsonSchema& operator=(JsonSchema const&) = delete;

  OrderedJson const& json() const { return m_schema; }
  // Returns what is wrong with the value, one line for each fault.
  std::vector<std::string> faults(OrderedJson const& value);
  // Returns the properties that no value without faults had so far, such as "spill.backend".
  // Properties with "when" are left out, since not every output has them.
  std::vector<std::string> unseen() const;
  // Returns what stands behind "$ref", and other schemas as they are.
  OrderedJson const& resolved(OrderedJson const& schema) const;

 private:
  struct Outcome {
    std::vector<std::string> faults;
    std::set<OrderedJson const*> seen;  // the schemas of properties that the value has
    void add(Outcome other);
  };
  Outcome check(OrderedJson const& schema, OrderedJson const& value,
                std::string const& where) const;
  Outcome check_object(OrderedJson const& schema, OrderedJson const& value,
                       std::string const& where) const;
  std::string advice(std::string const& field) const;

  std::filesystem::path m_path;
  OrderedJson m_schema;
  std::set<OrderedJson const*> m_seen;
};

}  // namespace spillway::test
