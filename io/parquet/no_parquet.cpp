#include <fmt/core.h>

#include "base/error.hpp"
#include "io/parquet/parquet.hpp"

namespace spillway {

std::unique_ptr<RecordSource> open_parquet(std::filesystem::path const& path, std::int64_t) {
  throw Error(
      Status::bad_input,
      fmt::format(
          "{}: this build reads no tables of Parquet, since it was made without carquet; "
          "install it (jobs/setup.sh, then jobs/build.sh), or write the table as .jsonl, with "
          "Python: pandas.read_parquet(FILE).to_json(OUT, orient='records', lines=True)",
          path.string()));
}

}  // namespace spillway
