"""Writes a GGUF model of half a megabyte that calls `list_datasets` once and then answers.

Its weights are a table of which token follows which: the embedding of a token is its own unit vector,
attention and feed-forward add nothing, and the output matrix holds the successors. The template ends
with another token when the last message is the output of a tool, so that two chains are enough.

    tiny_model.py FILE [--without-tools]
"""

import struct
import sys
from array import array

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

CHAINS = [
    ["<|call|>", "<tool_call>", '\n{"name": "list_datasets", "arguments": {}}\n', "</tool_call>", "<|im_end|>"],
    ["<|answer|>", "One table:", " sales.", "<|im_end|>"],
]


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


def write(path, metadata, tensors):
    """Writes GGUF, version 3: what the model is, where its tensors are, and the tensors."""
    def pad(data):
        return data + bytes(-len(data) % 32)

    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    head += b"".join(text(name) + packed(value) for name, value in metadata.items())
    body = b""
    for name, (shape, values) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        body += pad(array("f", values).tobytes())
    with open(path, "wb") as file:
        file.write(pad(head) + body)


def main(path, template):
    letter = letters()
    control = ["<|im_start|>", "<|im_end|>", "<|call|>", "<|answer|>"]
    marks = ["<tool_call>", "</tool_call>"]
    texts = ['\n{"name": "list_datasets", "arguments": {}}\n', "One table:", " sales."]
    written = ["".join(letter[it] for it in text.encode()) for text in texts]
    tokens = [letter[it] for it in range(256)] + written + control + marks
    types = [NORMAL] * (256 + len(texts)) + [CONTROL] * len(control) + [USER_DEFINED] * len(marks)
    ids = {text: 256 + at for at, text in enumerate(texts + control + marks)}
    n_vocab, n_head, n_ff = len(tokens), 16, 32
    n_embd = (n_vocab + 31) // 32 * 32

    embedding = [0.0] * (n_vocab * n_embd)
    follows = [0.0] * (n_vocab * n_embd)
    successors = {token: ids["<|im_end|>"] for token in range(n_vocab)}
    for chain in CHAINS:
        successors |= {ids[it]: ids[successor] for it, successor in zip(chain, chain[1:])}
    for token, successor in successors.items():
        embedding[token * n_embd + token] = 1.0
        follows[successor * n_embd + token] = 10.0

    def zeros(*shape):
        return shape, [0.0] * (shape[0] * shape[1])

    ones = (n_embd,), [1.0] * n_embd
    write(path, {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": 131072,
        "llama.embedding_length": n_embd,
        "llama.block_count": 1,
        "llama.feed_forward_length": n_ff,
        "llama.attention.head_count": 1,
        "llama.attention.head_count_kv": 1,
        "llama.attention.key_length": n_head,
        "llama.attention.value_length": n_head,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": n_head,
        "llama.vocab_size": n_vocab,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [f"{letter[32]} {letter[32]}"],
        "tokenizer.ggml.bos_token_id": ids["<|im_start|>"],
        "tokenizer.ggml.eos_token_id": ids["<|im_end|>"],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": template,
    }, {
        "token_embd.weight": ((n_embd, n_vocab), embedding),
        "output_norm.weight": ones,
        "output.weight": ((n_embd, n_vocab), follows),
        "blk.0.attn_norm.weight": ones,
        "blk.0.attn_q.weight": zeros(n_embd, n_head),
        "blk.0.attn_k.weight": zeros(n_embd, n_head),
        "blk.0.attn_v.weight": zeros(n_embd, n_head),
        "blk.0.attn_output.weight": zeros(n_head, n_embd),
        "blk.0.ffn_norm.weight": ones,
        "blk.0.ffn_gate.weight": zeros(n_embd, n_ff),
        "blk.0.ffn_up.weight": zeros(n_embd, n_ff),
        "blk.0.ffn_down.weight": zeros(n_ff, n_embd),
    })


if __name__ == "__main__":
    main(sys.argv[1], PLAIN if "--without-tools" in sys.argv else TEMPLATE)
