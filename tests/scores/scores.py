"""Compares what models give in tidemill with three references: scores.py TIDEMILL.

With each version of ONNX Runtime, the same inputs go through tidemill.onnx and through
onnxruntime-node of that version: not one byte may differ. The networks for images are computed
again here, from the pixels of Pillow on, with numpy: scores may differ by 1e-5."""
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import numpy_helper
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
VERSIONS = ["1_17", "1_30"]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


# ---- networks in numpy ----

def conv(x, w, b, pads, strides=(1, 1), **_):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::strides[0], ::strides[1]]
    return np.einsum("nchwij,ocij->nohw", windows, w, optimize=True) + b[:, None, None]


def max_pool(x, kernel_shape, strides):
    return sliding_window_view(x, kernel_shape, axis=(2, 3))[:, :, ::strides[0], ::strides[1]].max(axis=(4, 5))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


OPERATORS = {
    "Conv": conv, "MaxPool": max_pool, "Softmax": softmax,
    "Relu": lambda x: np.maximum(x, 0),
    "GlobalAveragePool": lambda x: x.mean(axis=(2, 3), keepdims=True),
    "Flatten": lambda x: x.reshape(len(x), -1),
    "Gemm": lambda x, w, b, transB: x @ w.T + b,
}


def compute(path, x):
    """What the network makes of x, in float64."""
    graph = onnx.load(path).graph
    values = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in graph.initializer}
    values[graph.input[0].name] = x.astype(np.float64)
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](*[values[name] for name in node.input], **attributes)
    return values[graph.output[0].name]


# ---- the cases ----

def digits():
    """The example, with the files of its images."""
    paths = sorted(glob.glob(os.path.join(EXAMPLES, "digits_onnx", "images", "*.*g")))
    pixels = [np.asarray(Image.open(path).convert("L").resize((28, 28), Image.BILINEAR)) for path in paths]
    options = {"width": 28, "height": 28, "channels": "gray", "type": "float32", "scale": 1 / 255}
    return images("digits", os.path.join(EXAMPLES, "digits_onnx", "model", "digits.onnx"), paths, options,
                  np.stack(pixels)[:, None] / 255)


def colours(folder, random):
    """JPEG and PNG of different sizes, as networks for ImageNet get them."""
    paths, pixels = [], []
    for i in range(12):
        size = random.integers(20, 200, 2)
        small = Image.fromarray(random.integers(0, 256, (9, 7, 3), np.uint8))
        paths.append(os.path.join(folder, f"{i}." + ("jpg" if i % 2 else "png")))
        small.resize(size, Image.BICUBIC).save(paths[-1])
        pixels.append(np.asarray(Image.open(paths[-1]).resize((32, 32), Image.BILINEAR)))
    x = ((np.stack(pixels) / 255 - MEAN) / STD).transpose(0, 3, 1, 2)
    options = {"width": 32, "height": 32, "preset": "imagenet"}
    return images("colours", os.path.join(folder, "colours.onnx"), paths, options, x)


def images(name, model, paths, options, x):
    image = {"name": "image", "type": "float32", "shape": list(x.shape), "images": paths, "options": options}
    return {"name": name, "model": model, "inputs": [image], "want": compute(model, x)}


def numbers(folder, name, model, values):
    """A case whose inputs are arrays, or lists of texts."""
    inputs = []
    for key, array in values.items():
        is_text = isinstance(array, list)
        inputs.append({"name": key, "type": "string" if is_text else "float32", "shape": list(np.shape(array))})
        with open(f"{folder}/{name}.{key}", "wb") as f:
            f.write("".join(text + "\0" for text in array).encode() if is_text else array.tobytes())
    return {"name": name, "model": model, "inputs": inputs}


def cases_in(folder):
    random = np.random.default_rng(17)
    columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    flowers = {name: random.uniform(0, 8, (500, 1)).astype(np.float32) for name in columns}
    x = np.concatenate([random.uniform(0, 120, 60), [0, 0.5, 1, 1.5, 2.5]]).astype(np.float32)
    texts = [("å水" * i)[:i] for i in range(len(x))]
    return [
        digits(), colours(folder, random),
        numbers(folder, "iris", os.path.join(EXAMPLES, "iris_onnx", "scripts", "iris.onnx"), flowers),
        numbers(folder, "types", os.path.join(folder, "types.onnx"), {"x": x, "texts": texts}),
    ]


# ---- comparisons ----

def as_lua(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}={as_lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(as_lua, value)) + "}"
    return json.dumps(value)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def faults_of(folder, case):
    found = []
    for output in onnx.load(case["model"]).graph.output:
        path = f"{folder}/{case['name']}.{output.name}"
        ours, node = read(path + ".ours"), read(path + ".node")
        if ours != node:
            found.append(f"{case['name']}: {output.name}: not what onnxruntime-node gives")
        if "want" in case:
            head, elements = ours.split(b"\n", 1)
            got = np.frombuffer(elements, np.float32).reshape([int(n) for n in head.split()[1:]])
            if got.shape != case["want"].shape or not np.abs(got - case["want"]).max() <= 1e-5:
                found.append(f"{case['name']}: {output.name}: not what numpy computes")
    return found


def main(program):
    if any(f"TM_TEST_ONNXRUNTIME_{version}" not in os.environ for version in VERSIONS):
        print(os.environ.get("TM_TEST_ONNXRUNTIME_MISSING", "run it by ctest, or set TM_TEST_ONNXRUNTIME_1_17 and _1_30"))
        return 77
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TIDEMILL_WORKSPACE=folder, HOME=folder, ORT_DISABLE_TELEMETRY="1")
        subprocess.run([program, "lua", os.path.join(HERE, "models.lua"), folder], env=environment, check=True)
        cases = cases_in(folder)
        listed = [{k: v for k, v in case.items() if k != "want"} for case in cases]
        with open(os.path.join(folder, "cases.lua"), "w") as f:
            f.write("return " + as_lua(listed))
        with open(os.path.join(folder, "cases.json"), "w") as f:
            json.dump(listed, f)
        for version in VERSIONS:
            environment["TIDEMILL_ONNXRUNTIME"] = os.environ[f"TM_TEST_ONNXRUNTIME_{version}"]
            environment["NODE_PATH"] = os.environ[f"TM_TEST_ONNXRUNTIME_NODE_{version}"]
            subprocess.run([program, "lua", os.path.join(HERE, "ours.lua"), folder], env=environment, check=True)
            subprocess.run(["node", os.path.join(HERE, "node.js"), folder], env=environment, check=True)
            faults += [f"{version}: {fault}" for case in cases for fault in faults_of(folder, case)]
    print(*faults, sep="\n")
    print(f"{len(VERSIONS)} versions, {len(cases)} cases, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
