"""Tables with real error bars, the methods people use, and what each loses when errors are larger."""
