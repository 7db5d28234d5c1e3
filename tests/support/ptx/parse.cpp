#include "tests/support/ptx/parse.hpp"

#include <algorithm>

#include "tests/support/ptx/parse_body.hpp"
#include "tests/support/ptx/parse_declaration.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {
namespace {

void parse_parameters(Cursor& cursor, Kernel& kernel) {
  if (!cursor.takes("(")) return;
  while (!cursor.takes(")")) {
    auto const parameter = parse_parameter(cursor, kernel.parameter_bytes);
    kernel.parameter_bytes = parameter.offset + parameter.bytes;
    kernel.parameters.push_back(parameter);
    if (!cursor.sees(")")) cursor.expect(",");
  }
}

// Passes numbers with commas between them and returns their product.
std::size_t parse_extent(Cursor& cursor) {
  std::size_t result = 1;
  do result *= static_cast<std::size_t>(cursor.whole());
  while (cursor.takes(","));
  return result;
}

// Reads what a kernel says about its launches. Advice about registers is passed over.
void parse_tuning(Cursor& cursor, Kernel& kernel) {
  while (!cursor.sees("{")) {
    auto const line = cursor.line();
    auto const word = cursor.word();
    if (word == ".noreturn") continue;
    bool const bounds = word == ".maxntid";
    bool const advises = word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg";
    if (!bounds && !advises) refuse(line, "'{}' of a kernel is not offered", word);
    auto const extent = parse_extent(cursor);
    if (bounds) kernel.most_threads = std::min(kernel.most_threads, extent);
  }
}

void parse_entry(Cursor& cursor, Module& module) {
  Kernel kernel;
  kernel.line = cursor.line();
  kernel.name = cursor.word();
  parse_parameters(cursor, kernel);
  parse_tuning(cursor, kernel);
  parse_body(cursor, kernel);
  auto const line = kernel.line;
  auto name = kernel.name;
  if (!module.kernels.emplace(std::move(name), std::move(kernel)).second)
    refuse(line, "a kernel is there twice");
}

// Passes the declaration of a function, which is allowed. Definitions and calls are refused.
void parse_function(Cursor& cursor) {
  auto const line = cursor.line();
  while (!cursor.sees(";")) {
    if (cursor.at_end() || cursor.sees("{")) refuse(line, "functions ('.func') are not offered");
    cursor.next();
  }
  cursor.expect(";");
}

void skip_line(Cursor& cursor, int line) {
  while (!cursor.at_end() && cursor.line() == line) cursor.next();
}

void parse_directive(Cursor& cursor, Module& module) {
  auto const line = cursor.line();
  auto const word = cursor.word();
  for (auto const linkage : {".visible", ".extern", ".weak", ".common"})
    if (word == linkage) return;
  for (auto const& [space, name] : kSpaces)
    if (word == fmt::format(".{}", name) &&
        (space == Space::global || space == Space::constant || space == Space::shared)) {
      module.variables.push_back(parse_variable(cursor, space));
      return;
    }
  if (word == ".entry") return parse_entry(cursor, module);
  if (word == ".func") return parse_function(cursor);
  if (word == ".version") {
    module.version = cursor.next().text;
  } else if (word == ".target") {
    module.target = cursor.word();
    skip_line(cursor, line);
  } else if (word == ".address_size") {
    if (cursor.whole() != 64) refuse(line, "addresses have 64 bits");
  } else if (word == ".file") {
    skip_line(cursor, line);
  } else if (word == ".section") {
    while (!cursor.at_end() && !cursor.sees("{")) cursor.next();
    cursor.skip_block();
  } else {
    refuse(line, "directive '{}' is not offered", word);
  }
}

}  // namespace

Module parse(std::string_view text) {
  Module module;
  Cursor cursor(tokens(text));
  while (!cursor.at_end()) parse_directive(cursor, module);
  return module;
}

}  // namespace spillway::test::ptx
