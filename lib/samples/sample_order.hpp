// Which text the samples of a run are taken from, in which order, from the run's beginning on: what
// a checkpoint keeps of it, and how a run goes on whose data are others by now. Pure functions, but
// for DataNow::count, whose Errors they let through.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// A token file, known by what is in it, wherever it lies.
struct KnownFile {
  std::string path;  // where it lay last
  std::int64_t tokens = 0;
  std::string fingerprint;  // TokenFile::fingerprint

  bool is_same(KnownFile const& other) const {
    return tokens == other.tokens && fingerprint == other.fingerprint;
  }
};

// The first of `files` with the same contents, or null.
KnownFile const* find(std::vector<KnownFile> const& files, KnownFile const& file);

// Whether both lists have the same contents in the same order, wherever the files lie.
bool same_files(std::vector<KnownFile> const& one, std::vector<KnownFile> const& other);

// Samples from `begin` on, to where the next Stretch begins: windows of these files, shuffled by
// `seed`, beginning with epoch `epoch`.
struct Stretch {
  std::int64_t begin = 0, epoch = 0;
  std::uint64_t seed = 0;
  std::vector<KnownFile> files;
  std::int64_t windows = 0;  // of an epoch, where they are not equally long

  std::int64_t tokens() const;
};

// The last Stretch has no end: its epochs follow each other. Those before it complete an epoch that
// was under way when data changed.
struct SampleOrder {
  std::int64_t window = 0;  // tokens of the text that a sample is made of, or the most of them
  std::vector<Stretch> stretches;
  std::string cut = {};  // cut_name

  std::int64_t windows(Stretch const& stretch) const {
    return cut.empty() ? (stretch.tokens() - 1) / window : stretch.windows;
  }
};

// The data of a run as they are now.
struct DataNow {
  std::vector<KnownFile> files;
  std::int64_t window = 0;
  std::uint64_t seed = 0;
  // Where windows are not equally long: cut_name, and a function that opens files and counts their
  // windows. It must be set where `cut` is.
  std::string cut = {};
  std::function<std::int64_t(std::vector<KnownFile> const&)> count = nullptr;
};

SampleOrder begun(DataNow const& now);

// The order of a run that goes on from global sample `samples` of `before`. Where nothing differs,
// it is the same. Else the epoch under way is completed first, without a window twice: by what is
// left of it, then by files that were added; then the data as they are now follow. Throws
// Error(bad_input) where that cannot be: a file that is still needed is gone, or windows have
// another length. With `anew` an epoch of the data as they are now begins at once. `said`: what
// differs and what follows from it, in lines for the user.
struct Continued {
  SampleOrder order;
  std::vector<std::string> said;
};
Continued continued(SampleOrder const& before, std::int64_t samples, DataNow const& now, bool anew);

std::string to_json(SampleOrder const& order);
// Throws Error(damaged) that names `source` for a text that to_json cannot have made.
SampleOrder sample_order(std::string_view json, std::string const& source);

}  // namespace spillway
