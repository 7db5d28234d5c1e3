#include "profile/profile_cache.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <span>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/file/read_file.hpp"
#include "io/file/seal.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDate = "date";
constexpr std::int64_t kLargestProfile = std::int64_t{64} << 20;

std::string hex(std::string_view text) {
  return checksum_text(checksum(std::as_bytes(std::span(text))));
}

std::string text_of(About const& about) {
  std::string text;
  for (auto const& [key, value] : about) text += key + "=" + value + "\n";
  return text;
}

// Returns how `about` differs from `key`, as in "cpu: A, here B", or "" if it does not. The date
// does not count.
std::string difference(About about, About const& key) {
  std::erase_if(about, [](auto const& entry) { return entry.first == kDate; });
  for (auto const& [name, here] : key) {
    auto const there = std::ranges::find(about, name, &About::value_type::first);
    if (there == about.end()) return fmt::format("{}: not said, here {}", name, here);
    if (there->second != here) return fmt::format("{}: {}, here {}", name, there->second, here);
  }
  return about.size() > key.size() ? "it says more than is asked" : "";
}

// Replaces the file by a rename, so that readers see the old file or the new one, whoever else
// writes.
void replace(fs::path const& path, std::string_view text) {
  auto name = path.string() + ".XXXXXX";
  FileDescriptor const file(::mkostemp(name.data(), O_CLOEXEC));
  int error = file ? write_fully(file.get(), std::as_bytes(std::span(text)), 0).error : errno;
  if (error == 0 && ::rename(name.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (file) ::unlink(name.c_str());
  throw Error(Status::storage,
              fmt::format("{}: {}", path.parent_path().string(), error_text(error)));
}

// Makes a directory and its parents. Only the user has access to those that are new.
void make_directory(fs::path const& directory) {
  std::error_code ignored;  // not looked at, since mkdir would fail for the same reason
  if (directory.empty() || fs::is_directory(directory, ignored)) return;
  make_directory(directory.parent_path());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(Status::storage, fmt::format("{}: {}", directory.string(), error_text(errno)));
}

}  // namespace

fs::path user_profile_cache() {
  // The XDG specification says that relative paths in these variables are to be ignored.
  auto const absolute = [](char const* variable) {
    auto const* const value = std::getenv(variable);
    fs::path const path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
  };
  if (auto const cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "spillway";
  auto const home = absolute("HOME");
  return home.empty() ? home : home / ".cache/spillway";
}

fs::path ProfileCache::file(About const& key) const {
  return m_directory / fmt::format("profile-{}.yaml", hex(text_of(key)));
}

ProfileCache::Found ProfileCache::read(About const& key) const {
  auto const path = file(key);
  std::error_code ignored;
  if (m_directory.empty() || !fs::exists(path, ignored)) return {};
  try {
    auto profile = parse_profile(read_sealed_text(path, kLargestProfile), path.string());
    auto const other = difference(profile.about, key);
    if (other.empty()) return {std::move(profile.machine), ""};
    return {{}, fmt::format("{}: measured elsewhere ({})", path.string(), other)};
  } catch (Error const& error) {
    std::string const what = error.what();
    bool const named = what.starts_with(path.string());
    return {{}, named ? what : fmt::format("{}: {}", path.string(), what)};
  }
}

ProfileCache::Found ProfileCache::find(About const& key) const {
  if (m_use == Use::refresh) return {};
  auto found = read(key);
  if (auto const stored = m_stored.find(key); stored != m_stored.end())
    learn(found.machine, stored->second);
  return found;
}

std::string ProfileCache::store(About const& key, Machine const& measured) const {
  if (m_use == Use::remember) learn(m_stored[key], measured);
  if (m_directory.empty()) return "neither XDG_CACHE_HOME nor HOME says where";
  try {
    make_directory(m_directory);
    auto all = read(key).machine;
    learn(all, measured);
    replace(file(key), sealed_profile(key, all));
    return "";
  } catch (std::exception const& error) {
    return error.what();
  }
}

About dated(About about) {
  about.emplace_back(kDate, fmt::format("{:%F %R} UTC", fmt::gmtime(std::time(nullptr))));
  return about;
}

std::string sealed_profile(About const& key, Machine const& machine) {
  return sealed(to_yaml(machine, dated(key)));
}

}  // namespace spillway
