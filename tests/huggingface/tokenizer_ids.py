#!/usr/bin/env python3
"""tokenizer_ids.py ENCODE_TEXTS [TEXTS]: our ids are those of Hugging Face's tokenizers.

Trains small vocabularies of each kind with the settings that published tokenizers have, makes TEXTS
nasty strings from a seed, and holds the ids and the texts that ENCODE_TEXTS TOKENIZER makes against
those of the library `tokenizers`, and of `sentencepiece` for its models. One line for each kind;
exits 1 where anything differs, 77 where a library is not installed.
"""
import io
import math
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

try:
    import tokenizers
    from tokenizers import (AddedToken, Regex, decoders, models, normalizers, pre_tokenizers,
                            processors, trainers)
except ImportError as missing:
    print(f"tokenizer_ids: {missing}: not tested")
    sys.exit(77)
try:
    import sentencepiece
except ImportError:
    sentencepiece = None

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")

# Blocks of scripts, symbols and emoji, by their first and last characters.
BLOCKS = [(0x20, 0x7e), (0xa0, 0x17f), (0x180, 0x24f), (0x250, 0x2ff), (0x300, 0x36f),
          (0x370, 0x3ff), (0x400, 0x4ff), (0x531, 0x58f), (0x591, 0x5f4), (0x600, 0x6ff),
          (0x700, 0x74f), (0x780, 0x7b1), (0x7c0, 0x7fa), (0x900, 0x97f), (0x980, 0x9fb),
          (0xa01, 0xa75), (0xa81, 0xaf1), (0xb01, 0xb77), (0xb82, 0xbfa), (0xc00, 0xc7f),
          (0xc82, 0xcf2), (0xd01, 0xd7f), (0xd82, 0xdf4), (0xe01, 0xe5b), (0xe81, 0xedf),
          (0xf00, 0xfda), (0x1000, 0x109f), (0x10a0, 0x10ff), (0x1100, 0x11ff),
          (0x1200, 0x139f), (0x13a0, 0x13f4), (0x1400, 0x167f), (0x1680, 0x169c),
          (0x16a0, 0x16f0), (0x1780, 0x17f9), (0x1800, 0x18aa), (0x1d00, 0x1dbf),
          (0x1e00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x209c), (0x20a0, 0x20bd),
          (0x20d0, 0x20f0), (0x2100, 0x218b), (0x2190, 0x23ff), (0x2460, 0x24ff),
          (0x2500, 0x27bf), (0x2c00, 0x2c5e), (0x2d30, 0x2d67), (0x3000, 0x30ff),
          (0x3105, 0x318e), (0x31f0, 0x33ff), (0x4e00, 0x9fcc), (0xa000, 0xa48c),
          (0xa640, 0xa6f7), (0xac00, 0xd7a3), (0xf900, 0xfad9), (0xfb00, 0xfb4f),
          (0xfb50, 0xfdfd), (0xfe00, 0xfe6f), (0xff01, 0xffee), (0x10000, 0x100fa),
          (0x10300, 0x10323), (0x10400, 0x1049d), (0x12000, 0x12399), (0x13000, 0x1342e),
          (0x1d400, 0x1d7ff), (0x1f100, 0x1f18f), (0x1f300, 0x1f5ff), (0x1f600, 0x1f64f),
          (0x1f680, 0x1f6ff), (0x20000, 0x20100), (0xe0100, 0xe01ef), (0xe000, 0xe010)]
SPACES = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u200a\u200b\u200c\u200d\u2028" \
         "\u2029\u202f\u205f\u2060\u3000\ufeff\u180e"
WORDS = ["the", "Once", "upon", "don't", "I'LL", "we've", "'S", "1234567", "3.14", "foo_bar()",
         "==", "!!!", "http://a.b/c?d=e", "naïve", "café", "ﬁne", "ǅ", "İstanbul", "ΣΑΣ",
         "straße", "日本語", "中文字", "한국어", "हिन्दी", "العربية", "עברית", "ไทย", "😀",
         "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "e\u0301", "a\u0323\u0302", "ſ", "K", "Å", "①", "½", "x²",
         "\u0000", "\ufffd", "▁", "##ing", "Ġ", "<0x41>"]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[SEP]",
            "[MASK]", "[UNK]", "<extra_id_0>", "<extra_id_11>", "<mask>", "YESTERDAY"]


# Libraries know different versions of Unicode: texts have characters that all know, or none.
EMOJI = [(0x1f300, 0x1f53d), (0x1f550, 0x1f567), (0x1f600, 0x1f64f), (0x1f680, 0x1f6c5),
         (0x1f100, 0x1f10a), (0x1f1e6, 0x1f1ff), (0x12000, 0x12399), (0x13000, 0x1342e)]


CHANGED = "\u166d\u1734\u1885\u1886"  # these have got other properties since


def is_old(character):
    if unicodedata.category(character) == "Cn":
        return ord(character) < 0x800
    return character not in CHANGED and (
        unicodedata.ucd_3_2_0.category(character) != "Cn"
        or any(first <= ord(character) <= last for first, last in EMOJI))


def assigned(draw):
    while True:
        character = chr(draw.randint(*draw.choice(BLOCKS)))
        if unicodedata.category(character) != "Cn" and is_old(character):
            return character


def nasty_piece(draw):
    kind = draw.randrange(10)
    if kind < 3:
        return draw.choice(WORDS).encode()
    if kind < 5:
        return (draw.choice(SPACES) * draw.choice([1, 1, 1, 2, 3, 7])).encode()
    if kind < 7:
        return "".join(assigned(draw) for _ in range(draw.randint(1, 6))).encode()
    if kind == 7:
        return draw.choice(SPECIALS).encode()
    if kind == 8:
        return bytes(draw.randrange(256) for _ in range(draw.randint(1, 5)))
    return "".join(chr(draw.randint(0, 127)) for _ in range(draw.randint(1, 12))).encode()


def nasty_text(draw, pieces):
    while True:
        text = b"".join(nasty_piece(draw) for _ in range(pieces))
        if all(map(is_old, text.decode(errors="replace"))):
            return text


def nasty_texts(count):
    draw = random.Random(17)
    texts = [b"", b" ", b"a", b"\n", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98"]
    texts += [nasty_text(draw, draw.randint(1, 16))
              for _ in range(count - len(texts) - 3)]
    half = 1 << 19
    texts.append(b"ab" * half)
    texts.append("日本".encode() * (half // 24))
    texts.append(b"".join(nasty_text(draw, 1) for _ in range(15000)).replace(b" ", b""))
    return texts


def corpus():
    draw = random.Random(3)
    lines = []
    for _ in range(3000):
        words = [draw.choice(WORDS + SPECIALS) if draw.random() < 0.3 else
                 "".join(draw.choice("etaoinshrdlu") for _ in range(draw.randint(1, 9)))
                 for _ in range(draw.randint(3, 12))]
        words += ["".join(assigned(draw) for _ in range(4))]
        lines.append(" ".join(words))
    return lines


def byte_level(pattern=None, **more):
    tokenizer = tokenizers.Tokenizer(models.BPE(**more))
    if pattern is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=2000, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def gpt2():
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def roberta():
    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>", AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return tokenizer


def llama3():
    tokenizer = byte_level(LLAMA3, ignore_merges=True)
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>"])
    return tokenizer


def qwen2():
    tokenizer = byte_level(QWEN2)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>"])
    tokenizer.add_tokens([AddedToken("yesterday", single_word=True, rstrip=True),
                          AddedToken("YESTERDAY", normalized=False)])
    return tokenizer


def llama2():
    tokenizer = tokenizers.Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True,
                                                unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"),
                                                 normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    short = [word for line in corpus()[:600] for word in line.split()]
    tokenizer.train_from_iterator(short, trainers.BpeTrainer(
        vocab_size=2500, special_tokens=specials, limit_alphabet=1000, show_progress=False))
    return tokenizer


def bert(**how):
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**how)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=3000, special_tokens=specials, show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def bert_cased():
    return bert(lowercase=False)


def t5(steps=()):
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(corpus()[:1000], trainers.UnigramTrainer(
        vocab_size=5000, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>",
        show_progress=False))
    tokenizer.add_special_tokens([f"<extra_id_{i}>" for i in range(100)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def field(message, wanted):
    """The bytes of a field of a protobuf message, the last of that number."""
    at, found = 0, b""

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        size = {0: 0, 1: 8, 2: 0, 5: 4}[key & 7]
        if key & 7 == 0:
            number()
        elif key & 7 == 2:
            size = number()
        if key >> 3 == wanted:
            found = message[at:at + size]
        at += size
    return found


def sentence_piece_model(kind):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=model, vocab_size=3000, model_type=kind,
        byte_fallback=kind == "bpe", character_coverage=0.98, minloglevel=2)
    return model.getvalue()


def t5_charsmap():
    """As T5 has it: with the characters that SentencePiece replaces."""
    normalizer_spec, precompiled_charsmap = 3, 2
    charsmap = field(field(sentence_piece_model("unigram"), normalizer_spec), precompiled_charsmap)
    return t5([normalizers.Precompiled(charsmap)])


def ours(program, path, texts):
    given = b"".join(struct.pack("<Q", len(text)) + text for text in texts)
    done = subprocess.run([program, str(path)], input=given, capture_output=True, check=False,
                          timeout=600)
    if done.returncode != 0:
        raise Different(done.stderr.decode(errors="replace").strip())
    said = done.stdout
    at = 0

    def take(size):
        nonlocal at
        count, = struct.unpack_from("<I", said, at)
        at += 4 + count * size
        return said[at - count * size:at]

    for _ in texts:
        yield memoryview(take(4)).cast("i").tolist(), take(1).decode(), take(1).decode()


class Different(Exception):
    pass


def first_difference(mine, theirs):
    """Both, from a little before the first place where they differ."""
    at = next((i for i, (one, other) in enumerate(zip(mine, theirs)) if one != other),
              min(len(mine), len(theirs)))
    begin = max(0, at - 3)
    return f"from {begin} on {mine[begin:at + 5]} instead of {theirs[begin:at + 5]}"


def compare(program, path, texts, encode, decode, is_same=list.__eq__):
    """Returns how many texts have equal ids; `encode` and `decode` are another library's."""
    for number, (text, (ids, *back)) in enumerate(zip(texts, ours(program, path, texts))):
        expected = encode(text.decode(errors="replace"))
        name = f"text {number}, {text[:200]!r},"
        if not is_same(ids, expected):
            raise Different(f"{name} has the ids {first_difference(ids, expected)}")
        for skips, one in enumerate(back):
            if one != decode(expected, bool(skips)):
                raise Different(
                    f"{name} comes back {first_difference(one, decode(expected, bool(skips)))}")
    return len(texts)


def hugging_face(program, make, texts, folder):
    path = folder / "tokenizer.json"
    make().save(str(path))
    theirs = tokenizers.Tokenizer.from_file(str(path))
    return compare(program, path, texts,
                   lambda text: theirs.encode(text, add_special_tokens=False).ids,
                   lambda ids, skips: theirs.decode(ids, skip_special_tokens=skips))


def sentence_piece(program, kind, texts, folder):
    path = folder / "tokenizer.model"
    path.write_bytes(sentence_piece_model(kind))
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def decode(ids, skips):
        return theirs.decode([i for i in ids if not (skips and theirs.is_control(i))])

    def score(ids):
        return sum(map(theirs.get_score, ids))

    # Of ways to write a text whose scores differ by no more than fp32 tells, versions take others.
    def is_as_good(ids, expected):
        return ids == expected or math.isclose(score(ids), score(expected), rel_tol=1e-5)

    return compare(program, path, texts, theirs.encode, decode, is_as_good)


def tell(name, check, *arguments):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            print(f"{name}: {check(*arguments, Path(scratch))} texts have equal ids", flush=True)
            return True
        except Different as difference:
            is_left_out = "made without libsentencepiece" in str(difference)
            print(f"{name}: {'not tested' if is_left_out else 'FAILED'}: {difference}", flush=True)
            return is_left_out
        except (OSError, subprocess.SubprocessError) as difference:
            print(f"{name}: FAILED: {difference}", flush=True)
            return False


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    texts = nasty_texts(int(sys.argv[2]) if len(sys.argv) == 3 else 10000)
    well = [tell(make.__name__, hugging_face, sys.argv[1], make, texts)
            for make in (gpt2, roberta, llama3, qwen2, llama2, bert, bert_cased, t5)]
    if sentencepiece is None:
        print("tokenizer_ids: sentencepiece is not installed: its models are not tested")
    else:
        well.append(tell("t5_charsmap", hugging_face, sys.argv[1], t5_charsmap, texts))
        well += [tell(f"sentencepiece {kind}", sentence_piece, sys.argv[1], kind, texts)
                 for kind in ("unigram", "bpe")]
    sys.exit(not all(well))


if __name__ == "__main__":
    main()
