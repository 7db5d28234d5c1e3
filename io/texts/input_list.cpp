#include "io/texts/input_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "io/texts/byte_source.hpp"
#include "io/texts/input_kind.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostListBytes = std::int64_t{1} << 30;

[[noreturn]] void refuse(fs::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
}

bool is_hidden(fs::path const& path) {
  return path.filename().string().starts_with('.');
}

// Returns all files of a directory and of those below it, sorted. Links to directories, which may
// lead in circles, are not followed and count as files.
std::vector<fs::path> files_below(fs::path const& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // what cannot be looked at is told when it is read
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_symlink(ignored) || !entry->is_directory(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (error) refuse(directory, "cannot be read: " + error.message());
  std::ranges::sort(files);
  return files;
}

void add_directory(fs::path const& directory, ListedInputs& all) {
  auto const before = all.files.size();
  for (auto& file : files_below(directory)) {
    if (kind_by_name(file)) {
      all.files.push_back(std::move(file));
    } else if (all.left_out++ == 0) {
      all.one_left_out = std::move(file);
    }
  }
  if (all.files.size() == before)
    refuse(directory, fmt::format("has no file that ends with {}", known_endings()));
}

void add(std::string const& given, ListedInputs& all) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  if (given != kStandardInput && fs::is_directory(given, ignored)) return add_directory(given, all);
  all.files.emplace_back(given);
}

std::string text_of(std::string const& list) {
  auto const* const path = list == kStandardInput ? "/dev/stdin" : list.c_str();
  return read_input(path, kMostListBytes);
}

}  // namespace

ListedInputs list_inputs(std::span<std::string const> given, std::string const& list) {
  ListedInputs all;
  for (auto const& one : given) add(one, all);
  if (!list.empty()) {
    std::istringstream lines(text_of(list));
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) add(line, all);
    }
  }
  auto const from_stdin =
      std::ranges::count(all.files, fs::path(kStandardInput)) + (list == kStandardInput ? 1 : 0);
  if (from_stdin > 1) refuse(kStandardInput, "stdin can be read only once");
  return all;
}

}  // namespace spillway
