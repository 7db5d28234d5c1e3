// A Template is a text of Jinja, as chat templates are. Of the language it knows what published
// templates have; all else is refused by its name and line, and nothing is rendered in another way
// than Jinja does with the settings of transformers (trim_blocks, lstrip_blocks).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::jinja {

struct TextRange {
  std::size_t begin, end;  // in bytes
};

struct Rendered {
  std::string text;
  std::vector<TextRange> generated;  // what `{% generation %}` blocks have printed
};

class Template {
 public:
  // `path` is for messages. Throws Error(bad_input) that begins with it and a line if something is
  // not understood.
  Template(std::string_view source, std::string path);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  // Renders with variables of these names. Any thread may call it. Throws Error(bad_input) that
  // begins with the path and a line if something is not understood, or if the template itself
  // refuses what it was given (raise_exception).
  Rendered render(nlohmann::ordered_json const& variables) const;
  // Returns whether the template has `{% generation %}`.
  bool has_generation() const { return m_has_generation; }

 private:
  struct Tree;

  std::string m_path;
  std::unique_ptr<Tree const> m_tree;
  bool m_has_generation = false;
};

}  // namespace spillway::jinja
