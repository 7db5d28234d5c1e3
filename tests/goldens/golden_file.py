"""Writes a golden: NAME.txt says what lies where in NAME.bin, and the settings."""

import numpy as np


def write(stem, tensors, settings):
    lines, offset = [], 0
    with open(stem.with_suffix(".bin"), "wb") as file:
        for name, array in tensors.items():
            kind = {"float32": "f32", "float64": "f64", "int32": "i32"}[str(array.dtype)]
            file.write(np.ascontiguousarray(array).tobytes())
            shape = " ".join(map(str, array.shape))
            lines.append(f"tensor {name} {kind} {offset} {shape}".rstrip())
            offset += array.nbytes
    lines += [f"setting {name} {value}" for name, value in settings.items()]
    stem.with_suffix(".txt").write_text("\n".join(lines) + "\n")
