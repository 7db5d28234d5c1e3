#include "app/offers.hpp"
#include "app/shared_options.hpp"
#include "io/file/partial.hpp"

namespace spillway {

void offer_tokenize(CLI::App& app, Request& request, TokenizeArguments& tokenize) {
  auto* command = app.add_subcommand("tokenize", "texts -> an HDF5 token file");
  command
      ->add_option("--tokenizer", tokenize.tokenizer,
                   "byte, or a published one: its directory, tokenizer.json or *.model")
      ->check(is_path)
      ->capture_default_str();
  command->add_option("-o,--output", tokenize.output, "token file to write")
      ->required()
      ->check(is_path);
  offer_force(*command, tokenize.force, kForceFile);
  command->add_flag("--separator", tokenize.separator,
                    "end every file with the token that ends texts (of byte: 256)");
  command
      ->add_option("files", tokenize.files,
                   "*.txt, *.jsonl, *.json, packed as *.gz or *.zst, *.parquet, directories of "
                   "these, or - for stdin")
      ->check(is_path);
  command
      ->add_option("--files-from", tokenize.files_from,
                   "a list of more such files, one on each line; - is stdin")
      ->check(is_path);
  command
      ->add_option("--format", tokenize.format,
                   "of all files: auto (by their names), text, jsonl (a record on each line), "
                   "json (a list of records) or parquet (a table)")
      ->check(CLI::IsMember({"auto", "text", "jsonl", "json", "parquet"}))
      ->capture_default_str();
  command->add_option("--text", tokenize.text_field,
                      "field of records that has the text; without it `messages`, `prompt` and "
                      "`completion`, or `text`");
  command
      ->add_option("--learn", tokenize.learn,
                   "of messages, or of a prompt and its completion: answers alone, or all")
      ->check(CLI::IsMember({"answers", "all"}))
      ->capture_default_str();
  command->add_flag("--parse-special", tokenize.parse_special,
                    "special tokens in the texts of messages are such tokens");
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_tokenize(tokenize); };
  });
}

void offer_import(CLI::App& app, Request& request, ImportArguments& arguments) {
  auto* command = app.add_subcommand(
      "import", "a Hugging Face directory -> a checkpoint, and its model: section on stdout");
  command->add_option("directory", arguments.directory, "with config.json and safetensors")
      ->required()
      ->check(is_path);
  command->add_option("-o,--output", arguments.output, "checkpoint directory to make")
      ->required()
      ->check(is_path);
  offer_force(*command, arguments.force, kForceDirectory);
  command->footer(
      "The checkpoint is one for run.init, eval, generate and export. It carries the tokenizer's "
      "files and config.json, as do the checkpoints of a run that begins with it. What a model "
      "has that is not known here is refused by name.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_import(arguments); };
  });
}

void offer_export(CLI::App& app, Request& request, ExportArguments& arguments) {
  auto* command = app.add_subcommand(
      "export", "a checkpoint -> a Hugging Face directory, which transformers loads");
  command
      ->add_option("checkpoint", arguments.checkpoint, "checkpoint, or a run directory: its newest")
      ->required()
      ->check(is_path);
  command->add_option("-o,--output", arguments.output, "directory to make")
      ->required()
      ->check(is_path);
  offer_force(*command, arguments.force, kForceDirectory);
  command
      ->add_option("--dtype", arguments.dtype,
                   "of all tensors; without it: as they were imported, else f32")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}));
  command->add_flag("--merged", arguments.merged,
                    "of a run with model.lora: the whole model, with its adapters merged into it; "
                    "without it: the adapters alone, as PEFT has them");
  offer_base(*command, arguments.base);
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_export(arguments); };
  });
}

}  // namespace spillway
