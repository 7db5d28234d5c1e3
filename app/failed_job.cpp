#include "app/failed_job.hpp"

#include "app/failure.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "report/warning_lines.hpp"

namespace spillway {

void tell_failure(std::exception const& error, SummaryParts parts, Trainer& trainer,
                  RunDir const& dir) noexcept {
  try {
    auto const failure = failure_of(error);
    parts.exit = failure.exit;
    auto summary = summarize_alone(parts);
    summary.why = failure.text;
    say(warning_lines(summary.warnings));
    if (!dir.is_ours_now()) return;
    trainer.tell_end(failure.exit, failure.text);
    dir.write("summary.json", to_json(summary) + "\n");
  } catch (std::exception const& trouble) {  // what has ended the job is told in any case
    log_warning("summary.json: {}", trouble.what());
  }
}

}  // namespace spillway
