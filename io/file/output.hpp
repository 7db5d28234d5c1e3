// Checks what a command may write where its user says (-o, --save). One rule holds for all
// commands. They may make a new file, and replace an empty file or a file of the kind that they
// make, which is known by how it begins. Character devices and pipes are written to. An input is
// never an output, and neither is a directory or a socket. Block devices and files of any other
// kind need --force.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "io/file/partial.hpp"

namespace spillway {

// An OutputKind says how files of one kind begin if this program made them.
struct OutputKind {
  std::string_view name;  // used in messages, such as "a token file"
  // `beginning` has the first kBeginningBytes of a file, or the whole file if it is shorter.
  bool (*is_ours)(std::string_view beginning);
};
inline constexpr std::size_t kBeginningBytes = 4096;
// Returns whether a file begins so. One that cannot be read is of no kind.
bool is_of_kind(std::filesystem::path const& file, OutputKind const& kind);

// An OutputRule says what a command may replace. A file may be made wherever there is none.
struct OutputRule {
  OutputKind kind;
  std::vector<std::filesystem::path> inputs;  // files that the command reads; they may be missing
  bool force = false;
};

// An Output is a path that a command may write to. Links are followed: what they lead to is
// checked, and replaced or written to.
class Output {
 public:
  // Throws Error(bad_input) if the rule forbids `path`, or if nothing can be made there.
  Output(std::filesystem::path path, OutputRule rule);
  // Allows any file to be replaced. Throws Error(bad_input) if `path` is no file, pipe or character
  // device, or if nothing can be made there.
  explicit Output(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  // Returns whether bytes go to a device, a pipe or an open descriptor instead of replacing a file.
  bool is_written_through() const;
  // Returns whether the output goes to where stdout of this process goes.
  bool is_standard_output() const;

  // Checks the path again, since minutes may have passed since the constructor checked it. Throws
  // Error(bad_input) if the rule forbids the path, or if nothing can be made there.
  void require_allowed() const;

 private:
  std::filesystem::path m_path;
  OutputRule m_rule;
};

// An UnfinishedFile is a new regular file that any code may write at `path()`. It becomes the
// output when `finish` is called.
class UnfinishedFile {
 public:
  // Makes an empty file. Throws what the constructor of Output throws.
  explicit UnfinishedFile(Output output);

  std::filesystem::path const& path() const { return m_path; }
  // Gives the file the name of the output, durably, or copies its contents to a device or a pipe.
  // The data of the file must be on storage. Throws Error(storage), or what the constructor of
  // Output throws.
  void finish();

 private:
  Output m_output;
  Partial m_partial;
  std::filesystem::path m_path;
};

// Writes `text` as the whole output. Throws Error(storage), or what the constructor of Output
// throws.
void write_output(Output const& output, std::string_view text);

// Throws Error(bad_input) if `directory`, which is to be written, is or contains `input`.
void require_apart(std::filesystem::path const& directory, std::filesystem::path const& input);

}  // namespace spillway
