// Opens the token files of data.train.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {

// A MixedSource is an element of data.train with a weight.
struct MixedSource {
  std::string name;        // as the user gave it
  std::int64_t files = 0;  // how many files it has
  std::int64_t share = 0;  // how many samples of a block are its own (samples/mix.hpp)
};

struct TrainFiles {
  std::vector<TokenFile> files;
  std::vector<MixedSource>
      mix;  // the elements that have these files, in order; empty without weights
  std::vector<std::string> said;  // lines for the user about files left out or repeated
};

// Opens the files of each element of a key. Throws Error(bad_input) that names the key if it has
// none, and what open_matching throws.
std::vector<std::vector<TokenFile>> open_each(char const* key,
                                              std::vector<std::string> const& patterns);

// Opens the files of data.train that are not also files of data.valid. Throws what open_each and
// without_valid throw, and Error(bad_input) for a weight that is too small beside the others.
TrainFiles open_train(DataConfig const& data);

}  // namespace spillway
