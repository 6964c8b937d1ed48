"""
Which model? Let it choose
==========================

Without ``method=``, ``uncertain.fit`` compares the models that suit the table on held-out rows and mixes
their distributions. ``model.leaderboard_`` is the whole comparison, including models that ignore the error bars.
"""

import matplotlib.pyplot as plt

import uncertain
from uncertain.demo import wdbc
from uncertain.plot import LeaderboardDisplay

biopsies = wdbc()  # 569 biopsies with the published standard errors of ten features
model = uncertain.fit(biopsies[::2], target="diagnosis")
print(model)

# %%
# The held-out loss of every candidate, with errors as they are and four times as large, and the share in the stack.

LeaderboardDisplay.from_estimator(model)
plt.show()
