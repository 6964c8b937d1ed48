"""`Model.report`: did the error bars change anything?"""
