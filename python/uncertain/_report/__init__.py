"""`Model.report`: did the error bars help, for which rows, and are meaning, sizes and probabilities right?"""
