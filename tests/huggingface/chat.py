#!/usr/bin/env python3
"""chat.py PROGRAM: messages reach a model as transformers' apply_chat_template puts them.

PROGRAM is spillway, or a command that ends with it. Small models with small tokenizers and chat
templates in the style of published ones are imported. `generate --chat` must then answer as
`model.generate` of transformers does behind `apply_chat_template(add_generation_prompt=True)`, with
one message, with a system's, with records of several turns, and in a conversation; and `tokenize`
must make the ids that `apply_chat_template` makes, of each answer apart where a template writes
earlier answers otherwise. One line each; exits 1 where anything differs, 77 where torch or
transformers are not installed.
"""
import json
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError as missing:
    print(f"chat: {missing}: not tested")
    sys.exit(77)

transformers.utils.logging.set_verbosity_error()
HERE = Path(__file__).resolve().parent
TIMEOUT_S = 3000  # it hangs
TOKENS = 16

# Of a template: the tokens that it needs, those that begin and end texts, and what ends an answer.
STYLES = {
    "chatml": (["<|im_start|>", "<|im_end|>", "<|endoftext|>"], None, "<|endoftext|>",
               "<|im_end|>"),
    "llama3": (["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
               "<|begin_of_text|>", "<|eot_id|>", "<|eot_id|>"),
    "gemma": (["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"], "<bos>", "<eos>",
              "<end_of_turn>"),
    "zephyr": (["<s>", "</s>"], "<s>", "</s>", "</s>"),
    "qwen3": (["<|im_start|>", "<|im_end|>", "<|endoftext|>"], None, "<|im_end|>", "<|im_end|>"),
}
FORGETS = {"qwen3"}  # these write earlier answers otherwise
NO_SYSTEM = {"gemma"}

CONVERSATION = [
    {"role": "user", "content": "What is a plan? <b>Say</b> it."},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nA plan says where bytes lie."},
    {"role": "user", "content": "And a Program,\nsay?"},
    {"role": "assistant", "content": "What a step does, item by item."},
]
SYSTEM = {"role": "system", "content": "You are terse."}


class Difference(Exception):
    pass


def run(program, *words, stdin=""):
    done = subprocess.run([*program, *map(str, words)], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise Difference(f"{words[0]} exits {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def make_tokenizer(folder, style):
    special, begin, end, _ = STYLES[style]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([Path(__file__).read_text()], trainer)
    tokenizer.add_tokens([AddedToken("<think>", normalized=False),
                          AddedToken("</think>", normalized=False)])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin,
                                                eos_token=end)
    fast.chat_template = (HERE / "templates" / f"{style}.jinja").read_text()
    fast.save_pretrained(folder)
    return fast


def make_model(folder, tokenizer, ends):
    torch.manual_seed(5)
    config = transformers.LlamaConfig(
        num_hidden_layers=2, hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=96, vocab_size=len(tokenizer), max_position_embeddings=1024,
        initializer_range=0.3, bos_token_id=None, eos_token_id=None, tie_word_embeddings=False)
    model = transformers.LlamaForCausalLM(config).eval()
    model.generation_config.eos_token_id = ends
    model.save_pretrained(folder)
    return model


def answer(model, tokenizer, messages, ends):
    """What transformers answers, as ids without the token that ends them."""
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False,
                                        return_tensors="pt")
    made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS,
                          do_sample=False, eos_token_id=ends, pad_token_id=0)
    made = made[0, ids.shape[1]:].tolist()
    return [token for token in made if token not in ends]


def end_after(model, tokenizer, end, messages):
    """Has the model end an answer to these messages behind a few tokens."""
    made = answer(model, tokenizer, messages, [end])
    behind = next(i for i in range(4, len(made)) if made[i] not in made[:i])
    with torch.no_grad():
        model.lm_head.weight[end] = 1.2 * model.lm_head.weight[made[behind]]


def compare(what, got, expected):
    if got != expected:
        raise Difference(f"{what}: {got!r} instead of {expected!r}")


def compare_answers(program, scratch, style, model, tokenizer):
    ends = sorted({tokenizer.convert_tokens_to_ids(STYLES[style][3]), tokenizer.eos_token_id})
    options = ["generate", scratch / "checkpoint", "--temperature", 0, "--precision", "fp32",
               "--tokens", TOKENS]

    def expected(messages):
        return tokenizer.decode(answer(model, tokenizer, messages, ends), skip_special_tokens=True)

    first = CONVERSATION[:1]
    compare("a message", run(program, *options, "--chat", "--prompt", first[0]["content"]),
            expected(first) + "\n")
    asked = [first, CONVERSATION[:3]]
    if style not in NO_SYSTEM:
        compare("with a system's", run(program, *options, "--chat", "--system", SYSTEM["content"],
                                       "--prompt", first[0]["content"]),
                expected([SYSTEM] + first) + "\n")
        asked.append([SYSTEM] + CONVERSATION[:3])
    records = scratch / "asked.jsonl"
    records.write_text("".join(json.dumps({"messages": one}) + "\n" for one in asked)
                       + json.dumps({"messages": CONVERSATION}) + "\n")
    told = [json.loads(line) for line in
            run(program, *options, "--prompts", records).splitlines()]
    compare("records", [one["text"] for one in told],
            [expected(one) for one in asked + [CONVERSATION[:3]]])

    turns, said = [], ""
    for text in ("Hello.", "Go on."):
        turns.append({"role": "user", "content": text})
        turns.append({"role": "assistant", "content": expected(turns)})
        said += turns[-1]["content"] + "\n"
    compare("a conversation", run(program, *options, "--chat", stdin="Hello.\n\nGo on.\n"), said)
    return len(answer(model, tokenizer, first, ends))


def learned_ids(tokenizer, messages, count):
    """The ids of the messages up to answer `count`, and of each whether it is the answer's: from
    the first one on that the prompt alone has not."""
    text = tokenizer.apply_chat_template(messages[:count], tokenize=False)
    before = tokenizer.apply_chat_template(messages[:count - 1], tokenize=False,
                                           add_generation_prompt=True)
    end = len(text.rstrip())
    made = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, alone = made["input_ids"], tokenizer(before, add_special_tokens=False)["input_ids"]
    first = next(i for i, one in enumerate(ids) if i == len(alone) or one != alone[i])
    return ids, [int(first <= i and begin < end)
                 for i, (begin, _) in enumerate(made["offset_mapping"])]


def compare_tokens(program, scratch, style, tokenizer):
    records, out = scratch / "learned.jsonl", scratch / "learned.h5"
    records.write_text(json.dumps({"messages": CONVERSATION}) + "\n")
    said = run(program, "tokenize", "--tokenizer", scratch / "model", "--force", "-o", out, records)
    parts = [learned_ids(tokenizer, CONVERSATION, count) for count in (2, 4)]
    if style in FORGETS:
        ids, mask = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
    else:
        ids = parts[1][0]
        mask = [max(one, other) for one, other in
                zip(parts[1][1], parts[0][1] + [0] * len(ids))]
    compare("what tokenize says", said,
            f"{out}: {len(ids)} tokens, {sum(mask)} of them learned, of "
            f"{'2 documents' if style in FORGETS else '1 document'}\n")
    file = out.read_bytes()  # both lie in it as they are
    for what, numbers in (("ids", struct.pack(f"<{len(ids)}H", *ids)), ("mask", bytes(mask))):
        if numbers not in file:
            raise Difference(f"{what} that tokenize makes are not those of apply_chat_template")
    return len(parts)


def style_holds(program, style, scratch):
    tokenizer = make_tokenizer(scratch / "model", style)
    end = tokenizer.convert_tokens_to_ids(STYLES[style][3])
    # Of files and template each must be heard: this one says another end.
    other = tokenizer.convert_tokens_to_ids(STYLES[style][0][0])
    model = make_model(scratch / "model", tokenizer, [other])
    end_after(model, tokenizer, end, CONVERSATION[:1])
    model.save_pretrained(scratch / "model")
    run(program, "import", scratch / "model", "-o", scratch / "checkpoint")
    model.generation_config.eos_token_id = None
    tokens = compare_answers(program, scratch, style, model, tokenizer)
    if not 0 < tokens < TOKENS:
        raise Difference(f"an answer of {tokens} tokens shows no end")
    compare_tokens(program, scratch, style, tokenizer)
    return f"answers (the first ends after {tokens} tokens) and ids are equal"


def main():
    program = shlex.split(sys.argv[1])
    failed = False
    for style in STYLES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{style}: {style_holds(program, style, Path(folder))}", flush=True)
            except Difference as difference:
                failed = True
                print(f"{style}: {difference}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
