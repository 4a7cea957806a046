"""Writes a model of half a megabyte that calls `list_datasets` once and then answers, or talks nonsense.

Its weights are a table of which token follows which: the embedding of a token is its own unit vector,
attention and feed-forward add nothing, and the output matrix holds the successors. The template ends
with another token when the last message is the output of a tool, so that two chains are enough.

    tiny_model.py FILE.gguf [BEHAVIOUR]    as llama.cpp reads it
    tiny_model.py DIRECTORY [BEHAVIOUR]    as Hugging Face's libraries read it

BEHAVIOUR is `--sound`, or
    --without-tools    a template that leaves the tools out
    --endless          an answer that does not end
    --half-a-call      calls whose arguments break off
"""

import json
import struct
import sys
from array import array
from pathlib import Path

TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ messages[0].content }}

# Tools

You may call one or more functions. You are provided with function signatures within <tools></tools>:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>

For each function call, return a json object within <tool_call></tool_call> tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% else %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages[1:] %}
{%- if message.role == "assistant" %}<|im_start|>assistant
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if tools and messages[-1].role != "tool" %}<|call|>{% else %}<|answer|>{% endif %}{% endif %}"""

PLAIN = """\
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
<|answer|>"""

# The arguments are all that the tool's schema demands: llama.cpp lets no other call pass.
CALL = '\n{"name": "list_datasets", "arguments": {"pattern": null}}\n'
ANSWER, SUBJECT = "One table:", " sales."
HALF_A_CALL = '\n{"name": "list_datasets", "argum'
# What a model says, token by token; one that ends with itself goes on for ever.
SOUND = [
    ["<|call|>", "<tool_call>", CALL, "</tool_call>", "<|im_end|>"],
    ["<|answer|>", ANSWER, SUBJECT, "<|im_end|>"],
]
CHAINS = {
    "--sound": SOUND,
    "--without-tools": SOUND,
    "--endless": [["<|call|>", ANSWER, SUBJECT, SUBJECT], ["<|answer|>", ANSWER, SUBJECT, SUBJECT]],
    "--half-a-call": [
        ["<|call|>", "<tool_call>", HALF_A_CALL, "</tool_call>", "<|im_end|>"],
        ["<|answer|>", "<tool_call>"],
    ],
}

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4


def letters():
    """The letter that stands for each byte in a vocabulary of GPT-2."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [it for it in range(256) if it not in shown]
    return {it: chr(it) for it in shown} | {it: chr(256 + at) for at, it in enumerate(rest)}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def packed(value):
    """A value of the metadata, after its type."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    of_text = isinstance(value[0], str)
    items = [text(it) if of_text else struct.pack("<i", it) for it in value]
    return struct.pack("<IIQ", 9, 8 if of_text else 5, len(items)) + b"".join(items)


def write_gguf(path, metadata, tensors):
    """Writes GGUF, version 3: what the model is, where its tensors are, and the tensors."""
    def pad(data):
        return data + bytes(-len(data) % 32)

    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    head += b"".join(text(name) + packed(value) for name, value in metadata.items())
    body = b""
    for name, (shape, values) in tensors.items():
        # The dimension that varies fastest comes first.
        shape = shape[::-1]
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        body += pad(array("f", values).tobytes())
    Path(path).write_bytes(pad(head) + body)


def write_safetensors(path, tensors):
    """Writes the tensors after a JSON text that says where each of them is."""
    head, body = {}, b""
    for name, (shape, values) in tensors.items():
        data = array("f", values).tobytes()
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(head).encode()
    Path(path).write_bytes(struct.pack("<Q", len(head)) + head + body)


class Vocabulary:
    """The tokens: one for each byte, one for each text of the chains, and the marks."""

    def __init__(self):
        letter = letters()
        texts = [CALL, HALF_A_CALL, ANSWER, SUBJECT]
        written = ["".join(letter[it] for it in text.encode()) for text in texts]
        self.space = letter[32]
        self.ordinary = [letter[it] for it in range(256)] + written
        self.control = ["<|im_start|>", "<|im_end|>", "<|call|>", "<|answer|>"]
        self.marks = ["<tool_call>", "</tool_call>"]
        self.tokens = self.ordinary + self.control + self.marks
        self.types = [NORMAL] * len(self.ordinary) + [CONTROL] * len(self.control)
        self.types += [USER_DEFINED] * len(self.marks)
        self.ids = {text: 256 + at for at, text in enumerate(texts + self.control + self.marks)}


N_HEAD, N_FF, CONTEXT_TOKENS = 16, 32, 131072


def weights(vocabulary, chains):
    """The tensors by Hugging Face's names, each with its shape and its values row by row."""
    ids, n_vocab = vocabulary.ids, len(vocabulary.tokens)
    n_embd = (n_vocab + 31) // 32 * 32
    embedding = [0.0] * (n_vocab * n_embd)
    follows = [0.0] * (n_vocab * n_embd)
    successors = {token: ids["<|im_end|>"] for token in range(n_vocab)}
    for chain in chains:
        successors |= {ids[it]: ids[successor] for it, successor in zip(chain, chain[1:])}
    for token, successor in successors.items():
        embedding[token * n_embd + token] = 1.0
        follows[successor * n_embd + token] = 10.0

    def zeros(*shape):
        return shape, [0.0] * (shape[0] * shape[1])

    ones = (n_embd,), [1.0] * n_embd
    return n_embd, {
        "model.embed_tokens": ((n_vocab, n_embd), embedding),
        "model.norm": ones,
        "lm_head": ((n_vocab, n_embd), follows),
        "model.layers.0.input_layernorm": ones,
        "model.layers.0.self_attn.q_proj": zeros(N_HEAD, n_embd),
        "model.layers.0.self_attn.k_proj": zeros(N_HEAD, n_embd),
        "model.layers.0.self_attn.v_proj": zeros(N_HEAD, n_embd),
        "model.layers.0.self_attn.o_proj": zeros(n_embd, N_HEAD),
        "model.layers.0.post_attention_layernorm": ones,
        "model.layers.0.mlp.gate_proj": zeros(N_FF, n_embd),
        "model.layers.0.mlp.up_proj": zeros(N_FF, n_embd),
        "model.layers.0.mlp.down_proj": zeros(n_embd, N_FF),
    }


GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers.0.input_layernorm": "blk.0.attn_norm",
    "model.layers.0.self_attn.q_proj": "blk.0.attn_q",
    "model.layers.0.self_attn.k_proj": "blk.0.attn_k",
    "model.layers.0.self_attn.v_proj": "blk.0.attn_v",
    "model.layers.0.self_attn.o_proj": "blk.0.attn_output",
    "model.layers.0.post_attention_layernorm": "blk.0.ffn_norm",
    "model.layers.0.mlp.gate_proj": "blk.0.ffn_gate",
    "model.layers.0.mlp.up_proj": "blk.0.ffn_up",
    "model.layers.0.mlp.down_proj": "blk.0.ffn_down",
}


def gguf(path, template, chains):
    """Writes the model as one file."""
    vocabulary = Vocabulary()
    n_embd, tensors = weights(vocabulary, chains)
    write_gguf(path, {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": CONTEXT_TOKENS,
        "llama.embedding_length": n_embd,
        "llama.block_count": 1,
        "llama.feed_forward_length": N_FF,
        "llama.attention.head_count": 1,
        "llama.attention.head_count_kv": 1,
        "llama.attention.key_length": N_HEAD,
        "llama.attention.value_length": N_HEAD,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": N_HEAD,
        "llama.vocab_size": len(vocabulary.tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": vocabulary.tokens,
        "tokenizer.ggml.token_type": vocabulary.types,
        "tokenizer.ggml.merges": [f"{vocabulary.space} {vocabulary.space}"],
        "tokenizer.ggml.bos_token_id": vocabulary.ids["<|im_start|>"],
        "tokenizer.ggml.eos_token_id": vocabulary.ids["<|im_end|>"],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": template,
    }, {f"{GGUF_NAMES[name]}.weight": tensor for name, tensor in tensors.items()})


def hugging_face(directory, template, chains):
    """Writes the model as a directory: configuration, tokenizer, weights."""
    vocabulary = Vocabulary()
    n_embd, tensors = weights(vocabulary, chains)
    begin, end = vocabulary.ids["<|im_start|>"], vocabulary.ids["<|im_end|>"]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [
        {
            "id": vocabulary.ids[it],
            "content": it,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": it in vocabulary.control,
        }
        for it in vocabulary.control + vocabulary.marks
    ]
    files = {
        "config.json": {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": n_embd,
            "num_hidden_layers": 1,
            "intermediate_size": N_FF,
            "num_attention_heads": 1,
            "num_key_value_heads": 1,
            "head_dim": N_HEAD,
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": CONTEXT_TOKENS,
            "vocab_size": len(vocabulary.tokens),
            "tie_word_embeddings": False,
            "bos_token_id": begin,
            "eos_token_id": end,
            "torch_dtype": "float32",
        },
        "tokenizer.json": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": None,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "vocab": {token: at for at, token in enumerate(vocabulary.ordinary)},
                "merges": [],
            },
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<|im_start|>",
            "eos_token": "<|im_end|>",
            "model_max_length": CONTEXT_TOKENS,
            "chat_template": template,
            # What reads calls out of the text; MLX takes it from here, others from an option.
            "tool_parser_type": "json_tools" if template == TEMPLATE else None,
        },
    }
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (directory / name).write_text(json.dumps(value))
    named = {f"{name}.weight": tensor for name, tensor in tensors.items()}
    write_safetensors(directory / "model.safetensors", named)


if __name__ == "__main__":
    behaviour = sys.argv[2] if 2 < len(sys.argv) else "--sound"
    write = gguf if sys.argv[1].endswith(".gguf") else hugging_face
    write(sys.argv[1], PLAIN if behaviour == "--without-tools" else TEMPLATE, CHAINS[behaviour])
