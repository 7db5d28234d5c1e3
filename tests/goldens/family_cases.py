"""The models that make_family_goldens.py asks PyTorch about, as one table."""

import dataclasses

import transformers


@dataclasses.dataclass(frozen=True)
class Case:
    """`documents` has, for each sequence, the lengths of its documents; what is left is padding.
    The first sequence is always one document, so that a graph without documents can generate from
    it. T5 has two stacks: `sequence` and `documents` are the encoder's, `target` and
    `target_documents` the decoder's."""

    name: str
    model: type
    config: dict
    sequence: int
    documents: tuple
    target: int = 0
    target_documents: tuple = ()
    position: int = 9  # the row of the first sequence whose logits are kept
    token_types: bool = False
    biases: bool = True  # False: GPT-2 with all biases zero and frozen, as our `bias: false`


def whole(sequence):
    return ((sequence,),) * 2


GPT2 = dict(n_layer=2, n_embd=24, n_head=3, vocab_size=61, resid_pdrop=0, embd_pdrop=0,
            attn_pdrop=0)
LLAMA = dict(num_hidden_layers=2, vocab_size=61)
BERT = dict(num_hidden_layers=2, hidden_size=24, num_attention_heads=3, intermediate_size=36,
            vocab_size=67, max_position_embeddings=20, hidden_dropout_prob=0,
            attention_probs_dropout_prob=0)
T5 = dict(d_model=24, num_heads=3, d_kv=6, vocab_size=61, dropout_rate=0)


def rope(kind, theta, **numbers):
    return dict(rope_type=kind, rope_theta=theta, **numbers)


CASES = [
    Case("gpt2_packed", transformers.GPT2LMHeadModel,
         GPT2 | dict(n_inner=100, n_positions=16), 16, ((16,), (5, 7, 4), (6, 7))),
    Case("gpt2_untied", transformers.GPT2LMHeadModel,
         GPT2 | dict(n_inner=52, n_positions=13, tie_word_embeddings=False,
                     activation_function="gelu"), 13, whole(13), biases=False),
    Case("llama", transformers.LlamaForCausalLM,
         LLAMA | dict(hidden_size=30, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                      intermediate_size=44, rope_parameters=rope("default", 5e5)), 16, whole(16)),
    # The wavelengths are 6.3, 20, 63 and 199: left alone, stretched in part, and twice in full.
    Case("llama_llama3", transformers.LlamaForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=3, num_key_value_heads=3,
                      intermediate_size=44, tie_word_embeddings=True, max_position_embeddings=64,
                      rope_parameters=rope("llama3", 100.0, factor=4.0, low_freq_factor=1.0,
                                           high_freq_factor=4.0,
                                           original_max_position_embeddings=32)),
         40, whole(40), position=37),
    Case("llama_linear_packed", transformers.LlamaForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=3, num_key_value_heads=1,
                      intermediate_size=44, rms_norm_eps=1e-5,
                      rope_parameters=rope("linear", 1e4, factor=2.5)),
         17, ((17,), (1, 9, 7), (6, 7))),
    Case("qwen2", transformers.Qwen2ForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=4, num_key_value_heads=2,
                      intermediate_size=40, tie_word_embeddings=True, use_sliding_window=True,
                      sliding_window=6, max_window_layers=1,
                      rope_parameters=rope("default", 1e6)), 16, whole(16)),
    Case("qwen3", transformers.Qwen3ForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=4, num_key_value_heads=2, head_dim=10,
                      intermediate_size=40, rope_parameters=rope("default", 1e6)), 16, whole(16)),
    Case("mistral", transformers.MistralForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=4, num_key_value_heads=2,
                      intermediate_size=44, sliding_window=5,
                      rope_parameters=rope("default", 1e4)), 16, whole(16)),
    Case("mistral_packed", transformers.MistralForCausalLM,
         LLAMA | dict(hidden_size=24, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
                      intermediate_size=36, sliding_window=4, tie_word_embeddings=True,
                      rope_parameters=rope("default", 1e4)), 16, ((16,), (5, 7, 4), (10, 2))),
    Case("bert", transformers.BertForMaskedLM, BERT, 17, ((17,), (11,), (6, 5, 3)),
         token_types=True),
    Case("t5_v1_0", transformers.T5ForConditionalGeneration,
         T5 | dict(num_layers=2, num_decoder_layers=1, d_ff=36, relative_attention_num_buckets=8,
                   relative_attention_max_distance=12), 19, ((19,), (12,), (17,)),
         11, ((11,), (11,), (7,))),
    Case("t5_v1_1", transformers.T5ForConditionalGeneration,
         T5 | dict(num_layers=1, num_decoder_layers=2, d_ff=20, relative_attention_num_buckets=10,
                   relative_attention_max_distance=14, feed_forward_proj="gated-gelu",
                   tie_word_embeddings=False), 13, ((13,), (8, 5), (4, 7)),
         18, ((18,), (6, 12), (9, 5))),
]
