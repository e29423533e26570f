"""Writes the models of onnx's own tests of operators, and what onnx reads in them, as JSON lines:
onnx_cases.py FOLDER"""
import json
import sys
import warnings

import numpy

for name, value in {"float": float, "int": int, "bool": bool, "object": object, "str": str}.items():
    setattr(numpy, name, value)  # the tests are older than this numpy
warnings.filterwarnings("ignore")
from onnx.backend.test.case.node import collect_testcases  # noqa: E402

TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
         10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16"}


def type_of(t):
    kind = t.WhichOneof("value")
    if kind == "tensor_type":
        return TYPES[t.tensor_type.elem_type]
    if kind == "sparse_tensor_type":
        return "sparse " + TYPES[t.sparse_tensor_type.elem_type]
    if kind == "map_type":
        return "map<%s,%s>" % (TYPES[t.map_type.key_type], type_of(t.map_type.value_type))
    return "%s<%s>" % (kind.split("_")[0], type_of(getattr(t, kind).elem_type))


def value_of(v):
    value = {"name": v.name, "type": type_of(v.type)}
    if v.type.WhichOneof("value") == "tensor_type" and v.type.tensor_type.HasField("shape"):
        value["shape"] = [d.dim_value if d.HasField("dim_value") else d.dim_param or -1
                          for d in v.type.tensor_type.shape.dim]
    return value


def nodes_of(graph):
    graphs = [g for n in graph.node for a in n.attribute for g in list(a.graphs) + ([a.g] if a.HasField("g") else [])]
    return len(graph.node) + sum(map(nodes_of, graphs))


with open(sys.argv[1] + "/expected.jsonl", "w") as out:
    for number, case in enumerate(collect_testcases(None)):
        model = case.model
        file = "%d.onnx" % number
        with open(sys.argv[1] + "/" + file, "wb") as f:
            f.write(model.SerializeToString())
        known = {t.name for t in model.graph.initializer} | {t.values.name for t in model.graph.sparse_initializer}
        out.write(json.dumps({
            "file": file, "nodes": nodes_of(model.graph),
            "inputs": [value_of(v) for v in model.graph.input if v.name not in known],
            "outputs": [value_of(v) for v in model.graph.output],
            "opsets": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        }) + "\n")
