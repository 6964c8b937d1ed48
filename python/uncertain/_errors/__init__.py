"""Are stated error bars right, and are new ones like those of the fit?"""
