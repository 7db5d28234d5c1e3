#include "kernels/cuda/algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <sstream>

#include "base/number.hpp"
#include "kernels/cuda/lt_objects.hpp"

namespace spillway::cuda {
namespace {

std::optional<std::uint64_t> hexadecimal(std::string const& word) {
  std::uint64_t value = 0;
  auto const* const end = word.data() + word.size();
  auto const read = std::from_chars(word.data(), end, value, 16);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return value;
}

}  // namespace

std::string to_text(LtAlgorithm const& algorithm) {
  return fmt::format("{} {:x}", algorithm.workspace_bytes, fmt::join(algorithm.algo.data, " "));
}

std::optional<LtAlgorithm> algorithm_of(std::string const& text) {
  std::istringstream words(text);
  std::string word;
  LtAlgorithm result;
  words >> word;
  auto const bytes = to_number<std::int64_t>(word);
  if (!bytes || *bytes < 0) return {};
  result.workspace_bytes = *bytes;
  for (auto& part : result.algo.data) {
    words >> word;
    auto const value = words ? hexadecimal(word) : std::nullopt;
    if (!value) return {};
    part = *value;
  }
  if (words >> word) return {};
  return result;
}

std::string maker_text(std::string_view device_name) {
  auto const version = cublasLtGetVersion();
  return fmt::format("{}, cublasLt {}.{}.{}", device_name, version / 10000, version / 100 % 100,
                     version % 100);
}

LtAlgorithm find_algorithm(cublasLtHandle_t handle, std::string const& name,
                           ProductForm const& form, std::int64_t most_bytes) {
  LtObjects const lt(form);
  auto const preference = lt_preference(form, most_bytes);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  auto const* const call = "cublasLtMatmulAlgoGetHeuristic";
  auto const what = name + ": " + text(form);
  require(cublasLtMatmulAlgoGetHeuristic(handle, lt.matmul.get(), lt.left.get(), lt.right.get(),
                                         lt.added(), lt.result.get(), preference.get(), 1, &found,
                                         &count),
          what, call);
  require(count == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : found.state, what, call);
  return {found.algo, static_cast<std::int64_t>(found.workspaceSize)};
}

bool fits(cublasLtHandle_t handle, LtAlgorithm const& algorithm, ProductForm const& form) {
  LtObjects const lt(form);
  cublasLtMatmulHeuristicResult_t found = {};
  auto const status =
      cublasLtMatmulAlgoCheck(handle, lt.matmul.get(), lt.left.get(), lt.right.get(), lt.added(),
                              lt.result.get(), &algorithm.algo, &found);
  return status == CUBLAS_STATUS_SUCCESS &&
         static_cast<std::int64_t>(found.workspaceSize) <= algorithm.workspace_bytes;
}

}  // namespace spillway::cuda
