#include "io/tokens/text_tokens.hpp"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "io/file/path_names.hpp"
#include "io/tokens/collected_tokens.hpp"
#include "io/tokens/encoding_team.hpp"
#include "io/tokens/text_files.hpp"
#include "io/tokens/text_jobs.hpp"
#include "io/tokens/token_spool.hpp"
#include "io/tokens/token_writer.hpp"
#include "io/tokens/unfinished_tokens.hpp"

namespace spillway {
namespace {

// Reads as many jobs as keep all threads busy for a while. Returns none at the end.
std::vector<EncodedJob> next_jobs(TextJobs& texts, std::size_t threads) {
  constexpr std::size_t jobs_of_thread = 8;
  std::vector<EncodedJob> jobs;
  while (jobs.size() < threads * jobs_of_thread) {
    auto job = texts.next();
    if (!job) break;
    jobs.push_back({std::move(*job), {}});
  }
  return jobs;
}

// Tokens wait beside their file, or where temporary files are if it is a device or a pipe.
std::filesystem::path spool_directory(Output const& out) {
  return out.is_written_through() ? std::filesystem::temp_directory_path()
                                  : directory_of(out.path());
}

// Passes over the jobs whose tokens an earlier process has left.
void pass_over(TextJobs& texts, CollectedTokens const& all,
               std::function<void(std::int64_t)> const& told) {
  for (std::int64_t job = 0; job < all.jobs(); ++job) texts.next();
  if (told && all.jobs() > 0) told(all.file_bytes());
}

// Says all that decides the tokens. A file is known by its size and when it was written.
std::string identity_of(std::span<std::filesystem::path const> files, TokenizerFacts const& facts,
                        TextTokensWork const& work) {
  auto text = fmt::format("{} {} {} {} {} {} {} {} {}\n", work.identity, facts.name, facts.checksum,
                          facts.vocab, work.separator, work.piece_bytes,
                          work.format ? static_cast<int>(*work.format) : -1, work.rules.text_field,
                          work.rules.learns_all + 2 * work.rules.parses_special);
  std::error_code error;  // what cannot be looked at is told when it is read
  for (auto const& file : files)
    text += fmt::format("{} {} {}\n", file.string(), std::filesystem::file_size(file, error),
                        std::filesystem::last_write_time(file, error).time_since_epoch().count());
  return text;
}

void collect(TextJobs& texts, Tokenizer const& tokenizer, TextTokensWork const& work,
             std::function<void(std::int64_t)> const& told, CollectedTokens& all) {
  EncodingTeam team(tokenizer, work.rules, work.threads);
  pass_over(texts, all, told);
  auto kept_bytes = all.file_bytes();
  for (auto jobs = next_jobs(texts, work.threads); !jobs.empty();
       jobs = next_jobs(texts, work.threads)) {
    team.encode(jobs);
    for (auto const& done : jobs) {
      all.add(done);
      if (told) told(done.job.file_bytes);
    }
    if (work.unfinished.empty() || all.file_bytes() - kept_bytes < work.keep_every_bytes) continue;
    all.keep();
    kept_bytes = all.file_bytes();
  }
}

template <class Append>
void copy(TokenSpool const& from, Append const& append) {
  std::vector<std::int32_t> buffer(1 << 16);
  for (std::int64_t first = 0; first < from.count();) {
    auto const count = from.read(first, buffer);
    append(std::span(buffer).first(count));
    first += static_cast<std::int64_t>(count);
  }
}

void write(CollectedTokens const& all, TokenWriter& writer) {
  copy(all.tokens(), [&](std::span<std::int32_t const> part) { writer.append(part); });
  if (all.mask() != nullptr)
    copy(*all.mask(), [&](std::span<std::int32_t const> part) {
      writer.append_mask(std::vector<std::uint8_t>(part.begin(), part.end()));
    });
  writer.close(all.starts());
}

}  // namespace

TokenizeResult tokenize_texts(std::span<std::filesystem::path const> files,
                              Tokenizer const& tokenizer, Output const& out,
                              TextTokensWork const& work,
                              std::function<void(std::int64_t bytes)> const& told) {
  auto const& facts = tokenizer.facts();
  if (work.separator && !facts.end)
    throw Error(Status::bad_input,
                fmt::format("--separator: {}: no file beside the tokenizer says which token ends "
                            "texts (eos_token or sep_token of tokenizer_config.json)",
                            facts.name));
  auto const inputs = survey(files);
  TextJobs texts(inputs.files, work.format, tokenizer, work.piece_bytes);
  std::optional<UnfinishedTokens> unfinished;
  if (!work.unfinished.empty())
    unfinished.emplace(work.unfinished, identity_of(files, facts, work));
  auto const* const separator = work.separator ? &*facts.end : nullptr;
  auto all = unfinished ? CollectedTokens(*unfinished, facts.vocab, separator)
                        : CollectedTokens(spool_directory(out), facts.vocab, separator);
  if (all.jobs() > 0)
    log_info("{}: {} of the inputs were done before; it goes on behind them",
             work.unfinished.string(), human_bytes(all.file_bytes()));
  collect(texts, tokenizer, work, told, all);
  if (all.starts().empty())
    throw Error(Status::bad_input, "tokenize: the tokenizer makes no token of the files given");
  TokenWriter writer(out, facts.name, facts.vocab, all.tokens().count(), std::ssize(all.starts()),
                     facts.checksum, all.mask() != nullptr);
  write(all, writer);
  if (unfinished) unfinished->remove();
  return {all.tokens().count(), std::ssize(all.starts()), inputs.empty_files + all.empty_files(),
          all.empty_records(), all.learned()};
}

}  // namespace spillway
