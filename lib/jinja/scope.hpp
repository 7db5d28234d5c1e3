// A Scope has the variables of a part of a template; those around it are seen, too. Only for this
// folder's sources.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "jinja/value.hpp"

namespace spillway::jinja {

struct Scope {
  std::shared_ptr<Scope> around = {};
  std::map<std::string, Value, std::less<>> variables = {};

  // Returns null if no variable has the name.
  Value const* find(std::string const& name) const {
    for (auto const* scope = this; scope != nullptr; scope = scope->around.get()) {
      auto const found = scope->variables.find(name);
      if (found != scope->variables.end()) return &found->second;
    }
    return nullptr;
  }
};

}  // namespace spillway::jinja
