#include "io/tokens/unfinished_tokens.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/compact_json.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/read_file.hpp"

namespace spillway {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnfinishedCounts, jobs, file_bytes, tokens, starts, begin,
                                   learned, has_mask, empty_files, empty_records)

namespace {

namespace fs = std::filesystem;

constexpr char const* kCounts = "done.json";
constexpr std::int64_t kMostBytes = 64 << 20;  // of the counts, with the names of all inputs

// A file system without locks goes without: who runs the command twice at a time there is not told.
FileDescriptor locked(fs::path const& directory) {
  FileDescriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file)
    throw Error(Status::storage,
                fmt::format("{}: cannot be opened: {}", directory.string(), error_text(errno)));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(Status::bad_input,
                fmt::format("{}: another `tokenize` is at work here", directory.string()));
  return file;
}

void empty(fs::path const& directory) {
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(directory, error))
    fs::remove(entry.path(), error);
}

}  // namespace

UnfinishedTokens::UnfinishedTokens(fs::path directory, std::string identity)
    : m_directory(std::move(directory)), m_identity(std::move(identity)) {
  make_directories(m_directory);
  m_lock = locked(m_directory);
  read_counts();
  if (m_counts.jobs == 0) empty(m_directory);
}

// What cannot be read, or is of other inputs, is begun anew.
void UnfinishedTokens::read_counts() {
  std::error_code ignored;
  if (!fs::exists(file(kCounts), ignored)) return;
  try {
    auto const json = nlohmann::json::parse(read_text(file(kCounts), kMostBytes));
    if (json.at("identity") == m_identity) m_counts = json.at("counts").get<UnfinishedCounts>();
  } catch (nlohmann::json::exception const&) {
  } catch (Error const&) {
  }
}

void UnfinishedTokens::keep(UnfinishedCounts const& counts) {
  nlohmann::json const json = {{"identity", m_identity}, {"counts", counts}};
  replace_text(file(kCounts), compact_json(json) + "\n");
}

void UnfinishedTokens::remove() {
  empty(m_directory);
  std::error_code ignored;  // an empty directory that stays harms nobody
  fs::remove(m_directory, ignored);
}

}  // namespace spillway
