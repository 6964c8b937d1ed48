"""Models as ONNX graphs: the formulas of the core in ONNX operations.

A graph takes the columns of a table by name and answers what `Model.predict`, `predict_proba` and
`predict_distribution` do, in float64. The guide's page "The model file" says what is left out.
"""
