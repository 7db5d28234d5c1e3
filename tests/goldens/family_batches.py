"""Batches with documents and padding, and what a model of transformers makes of them."""

import torch

from training import BATCHES


def document_numbers(lengths, sequence):
    numbers = [n for n, length in enumerate(lengths) for _ in range(length)]
    return numbers + [-1] * (sequence - len(numbers))


def positions_of(documents):
    """Positions start again where the number changes."""
    result = torch.zeros_like(documents)
    for row, numbers in zip(result, documents):
        for i in range(1, len(row)):
            row[i] = row[i - 1] + 1 if numbers[i] == numbers[i - 1] else 0
    return result


def make_stack(documents, sequence, reverse):
    rows = [document_numbers(lengths[::-1] if reverse else lengths, sequence)
            for lengths in documents]
    return torch.tensor(rows)


def make_batch(case, vocab, number, generator):
    """Fields by name, [micro, sequence]; T5's two stacks are tokens/0, tokens/1 and so on. Token 0
    is padding's, and stands nowhere else. In the second batch documents come in another order."""
    shapes = [(case.documents, case.sequence)]
    if case.target:
        shapes.append((case.target_documents, case.target))
    batch = {}
    for stack, (lengths, sequence) in enumerate(shapes):
        end = f"/{stack}" if case.target else ""
        documents = make_stack(lengths, sequence, number % 2 == 1)
        tokens = torch.randint(1, vocab, documents.shape, generator=generator)
        batch[f"tokens{end}"] = torch.where(documents < 0, 0, tokens)
        batch[f"documents{end}"] = documents
        batch[f"positions{end}"] = positions_of(documents)
    batch["targets"] = torch.randint(1, vocab, documents.shape, generator=generator)
    kept = torch.rand(documents.shape, generator=generator) > 0.2
    batch["weights"] = (kept & (documents >= 0)).double()
    if case.token_types:
        batch["token_types"] = torch.randint(2, documents.shape, generator=generator)
    return batch


def make_batches(case, vocab, generator):
    return [make_batch(case, vocab, number, generator) for number in range(BATCHES)]


def additive_mask(queries, keys, dtype, causal=False, window=0):
    """[micro, 1, queries, keys]: 0 for keys of the query's document that it sees."""
    seen = (queries[:, :, None] == keys[:, None, :]) & (queries >= 0)[:, :, None]
    distance = torch.arange(queries.shape[1])[:, None] - torch.arange(keys.shape[1])
    if causal:
        seen &= distance >= 0
    if window:
        seen &= distance < window
    hidden = torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)
    return hidden[:, None]


def t5_logits(model, batch):
    source, target = batch["documents/0"], batch["documents/1"]
    encoded = model.encoder(input_ids=batch["tokens/0"],
                            attention_mask=additive_mask(source, source, model.dtype))
    return model(encoder_outputs=encoded,
                 attention_mask=additive_mask(target, source, model.dtype),
                 decoder_input_ids=batch["tokens/1"],
                 decoder_attention_mask=additive_mask(target, target, model.dtype, causal=True)
                 ).logits


def logits_of(model, batch):
    """[micro, sequence, vocab]. Where all is one document, masks are transformers' own."""
    if "tokens/1" in batch:
        return t5_logits(model, batch)
    inputs = dict(input_ids=batch["tokens"], position_ids=batch["positions"])
    if "token_types" in batch:
        inputs["token_type_ids"] = batch["token_types"]
    documents = batch["documents"]
    if documents.any():
        inputs["attention_mask"] = additive_mask(
            documents, documents, model.dtype, causal=model.config.model_type != "bert",
            window=getattr(model.config, "sliding_window", None) or 0)
    return model(**inputs).logits


def logits_alone(model, batch, sequence, document):
    """A document's logits with nothing beside it and no mask of ours, and the rows it has."""
    def rows(field, stack=""):
        inside = batch[f"documents{stack}"][sequence] == document
        return batch[f"{field}{stack}"][sequence][inside][None]

    if "tokens/1" in batch:
        logits = model(input_ids=rows("tokens", "/0"), decoder_input_ids=rows("tokens", "/1"))
        return logits.logits[0], batch["documents/1"][sequence] == document
    inside = batch["documents"][sequence] == document
    types = ({"token_type_ids": batch["token_types"][sequence][inside][None]}
             if "token_types" in batch else {})
    return model(input_ids=rows("tokens"), **types).logits[0], inside
