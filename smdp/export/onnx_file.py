"""The Q-function of a policy as an ONNX file, for phones and other programs that run networks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

import numpy as np

from smdp.atomic_write import write_whole
from smdp.errors import SettingError
from smdp.feature_map.layers import Layer
from smdp.policy.learned_policy import LearnedPolicy

OPSET, IR_VERSION = 17, 8
OPERATORS = {"arctan": "Atan", "tanh": "Tanh", "relu": "Relu"}


def export_onnx(policy: LearnedPolicy, target: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write states -> Q-values as an ONNX graph in single precision.

    The input `states` (rows, variables used) has the variables that the metadata entry `variables`
    names, in their order and in the policy's units, without missing values: imputation, rescaling,
    margins and the check whether a state is like those of the trial are in the JSON file of
    `export_policy`, not here; nor are the errors by which a pessimistic policy chooses. The output
    `q_values` (rows, K) has the metadata's `actions`.
    """
    model = _model(_onnx(), policy)
    if isinstance(target, str | os.PathLike):
        write_whole(Path(target), model)
    else:
        target.write(model)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as absent:
        raise SettingError(
            "Writing an ONNX file needs the package 'onnx', which is not installed.",
            "Install it with: pip install onnx",
        ) from absent
    return onnx


def _model(onnx: Any, policy: LearnedPolicy) -> bytes:
    graph = _Graph(onnx)
    fitted, q = policy.feature_map, policy.q
    used = [fitted.variables.index(name) for name in fitted.variables_used]
    first = Layer(fitted.layers[0].weights[:, used], fitted.layers[0].bias)
    graph.standardise(fitted.centre[used], fitted.scale[used])
    for layer in (first, *fitted.layers[1:]):
        graph.layer(layer, fitted.activation)
    graph.standardise(q.centre, q.scale)
    for layer in q.layers[:-1]:
        graph.layer(layer, "relu")
    graph.layer(q.layers[-1], "identity")
    about = {
        "variables": json.dumps(list(fitted.variables_used)),
        "actions": json.dumps(list(policy.action_labels)),
    }
    return graph.finished(len(used), len(policy.action_labels), about)


class _Graph:
    """A chain of operations, each on the result of the one before."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._last = "states"

    def standardise(self, centre: np.ndarray, scale: np.ndarray) -> None:
        self._add("Sub", centre)
        self._add("Div", scale)

    def layer(self, layer: Layer, activation: str) -> None:
        self._add("MatMul", layer.weights.T)
        self._add("Add", layer.bias)
        if activation != "identity":
            self._add(OPERATORS[activation])

    def finished(self, inputs: int, outputs: int, about: dict[str, str]) -> bytes:
        onnx = self._onnx
        self._nodes[-1].output[0] = "q_values"

        def values(name: str, columns: int) -> Any:
            kind = onnx.TensorProto.FLOAT
            return onnx.helper.make_tensor_value_info(name, kind, ["rows", columns])

        graph = onnx.helper.make_graph(
            self._nodes,
            "policy",
            [values("states", inputs)],
            [values("q_values", outputs)],
            self._constants,
        )
        opset = [onnx.helper.make_opsetid("", OPSET)]
        model = onnx.helper.make_model(
            graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="smdp"
        )
        onnx.helper.set_model_props(model, about)
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())

    def _add(self, operator: str, constant: np.ndarray | None = None) -> None:
        inputs, output = [self._last], f"v{len(self._nodes)}"
        if constant is not None:
            inputs.append(f"c{len(self._constants)}")
            values = np.ascontiguousarray(constant, dtype=np.float32)
            self._constants.append(self._onnx.numpy_helper.from_array(values, inputs[1]))
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [output]))
        self._last = output
