"""What a configuration of transformers is under the keys of our input file."""

ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu": "gelu_erf", "relu": "relu"}


def gpt_keys(config, bias):
    return dict(family="gpt", layers=config.n_layer, hidden=config.n_embd, heads=config.n_head,
                ffn=config.n_inner or 4 * config.n_embd, positions=config.n_positions, bias=bias,
                activation=ACTIVATIONS[config.activation_function],
                tied=int(config.tie_word_embeddings), norm_eps=config.layer_norm_epsilon)


def rope_keys(rope):
    kind = rope["rope_type"]
    keys = dict(rope_theta=rope["rope_theta"],
                rope_scaling="none" if kind == "default" else kind)
    ours = dict(factor="rope_factor", low_freq_factor="rope_low_freq_factor",
                high_freq_factor="rope_high_freq_factor",
                original_max_position_embeddings="rope_original_positions")
    return keys | {ours[name]: rope[name] for name in ours if name in rope}


def llama_keys(config):
    """Llama, Qwen2, Qwen3 and Mistral: one family, told apart by what each has."""
    kind = config.model_type
    windows = getattr(config, "sliding_window", None)
    head_size = getattr(config, "head_dim", None)
    return dict(family="llama", layers=config.num_hidden_layers, hidden=config.hidden_size,
                heads=config.num_attention_heads, kv_heads=config.num_key_value_heads,
                head_size=head_size or config.hidden_size // config.num_attention_heads,
                ffn=config.intermediate_size, qkv_bias=int(kind == "qwen2"),
                qk_norm=int(kind == "qwen3"), window=windows or 0,
                window_from=config.max_window_layers if windows and kind != "mistral" else 0,
                tied=int(config.tie_word_embeddings), norm_eps=config.rms_norm_eps,
                **rope_keys(config.rope_parameters))


def bert_keys(config):
    return dict(family="bert", layers=config.num_hidden_layers, hidden=config.hidden_size,
                heads=config.num_attention_heads, ffn=config.intermediate_size,
                positions=config.max_position_embeddings, token_types=config.type_vocab_size,
                activation=ACTIVATIONS[config.hidden_act],
                tied=int(config.tie_word_embeddings), norm_eps=config.layer_norm_eps)


def t5_keys(config, tied):
    return dict(family="t5", layers=config.num_layers, decoder_layers=config.num_decoder_layers,
                hidden=config.d_model, heads=config.num_heads, head_size=config.d_kv,
                ffn=config.d_ff, gated=int(config.is_gated_act),
                activation=ACTIVATIONS[config.dense_act_fn], tied=tied,
                scale_output=int(config.scale_decoder_outputs),
                relative_buckets=config.relative_attention_num_buckets,
                relative_max_distance=config.relative_attention_max_distance,
                norm_eps=config.layer_norm_epsilon)


def model_keys(model):
    config = model.config
    if config.model_type == "t5":  # whose configuration always says tied
        keys = t5_keys(config, int(model.lm_head.weight is model.shared.weight))
    elif config.model_type == "gpt2":
        keys = gpt_keys(config, int(model.transformer.ln_f.bias.requires_grad))
    else:
        keys = (bert_keys if config.model_type == "bert" else llama_keys)(config)
    return keys | dict(vocab=config.vocab_size)
