// What a command writes where its user says (-o, --save). One rule holds for all of them: nothing,
// an empty file, or a file of the same kind, known by its head, is replaced; character devices and
// pipes are written through; an input is never an output; anything else wants --force.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "io/file/partial.hpp"

namespace spillway {

// Tells the files of one kind that this program made from all others by how they begin.
struct OutputKind {
  std::string_view name;  // "a token file"
  // `beginning` are the first kBeginningBytes of a file, or all that it has.
  bool (*is_ours)(std::string_view beginning);
};
inline constexpr std::size_t kBeginningBytes = 4096;

// What the command that writes it knows besides.
struct OutputRule {
  OutputKind kind;
  std::vector<std::filesystem::path> inputs;  // files that the command reads; missing ones are none
  bool force = false;
};

// Links are followed: what they lead to is judged, and replaced or written through.
class Output {
 public:
  // Throws Error(bad_input) where the rule forbids `path`, or nothing can be made there.
  Output(std::filesystem::path path, OutputRule rule);
  // Whatever file lies there may be replaced. Throws as the other.
  explicit Output(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  // Whether it is a device or a pipe: what is written twice arrives twice.
  bool is_through() const;
  // Whether what is written goes where results are printed.
  bool is_standard_output() const;

  // Looks again, since minutes may have passed, and throws as the constructor does.
  void require_allowed() const;

 private:
  std::filesystem::path m_path;
  OutputRule m_rule;
};

// A new regular file, to be written at `path()` by whatever writes files, which becomes the output
// when it is whole.
class UnfinishedFile {
 public:
  // Makes it, empty. Throws as Output does.
  explicit UnfinishedFile(Output output);

  std::filesystem::path const& path() const { return m_path; }
  // The data of the file are on storage. Gives it its name, durable, or writes what it holds
  // through to a device or a pipe. Throws Error: storage, or as Output does.
  void finish();

 private:
  Output m_output;
  Partial m_partial;
  std::filesystem::path m_path;
};

// Throws Error: storage, or as Output does.
void write_output(Output const& output, std::string_view text);

// Throws Error(bad_input) where a directory that is written is or holds what is read.
void require_apart(std::filesystem::path const& directory, std::filesystem::path const& input);

}  // namespace spillway
