"""
Images that may be shifted
==========================

A digit could as well have been photographed half a pixel farther to the left. The tangent of that shift is a
direction in the space of images: a covariance of low rank, one per image. SVM-GSU learns from it what an ordinary SVM
would need shifted copies for. The digits are scikit-learn's, 8 x 8 pixels, and they are centred. The digits to
predict are not: their shifts are simulated, Gaussian, by 0.7 pixels in either direction.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import shift
from sklearn.datasets import load_digits

from uncertain import GSUClassifier
from uncertain.uncertainty import translation

digits = load_digits()
chosen = np.isin(digits.target, (3, 8))
images, y = digits.images[chosen] / 16.0, digits.target[chosen]
rows = translation(images, 0.7)
rng = np.random.default_rng(0)
moved = np.stack([shift(image, rng.normal(0, 0.7, 2), order=1).ravel() for image in images])
print(rows)

# %%
# An image, and what one standard deviation of each shift adds to it.

drawn = rows[:1].sample(7, random_state=0).means.reshape(-1, 8, 8)
fig, axes = plt.subplots(1, 8, figsize=(9, 1.6), layout="constrained")
for k, (ax, image) in enumerate(zip(axes, [images[0], *drawn])):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    ax.set_title("the image" if k == 0 else f"draw {k}", fontsize=9)
    ax.axis("off")
plt.show()

# %%
# Accuracy on images that are not centred, over 20 draws of the images to learn from.

sizes = [10, 20, 40, 80]
curves = {"the means only": [], "with shifts (SVM-GSU)": []}
for size in sizes:
    right = {name: [] for name in curves}
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:size], order[100:]
        for name, given in zip(curves, (rows.collapse("zero"), rows)):
            model = GSUClassifier(alpha=1e-2).fit(given[train], y[train])
            right[name].append(100 * model.score(moved[test], y[test]))
    for name in curves:
        curves[name].append((np.mean(right[name]), np.std(right[name]) / np.sqrt(20)))

for name, points in curves.items():
    print(f"{name:22} {points[1][0]:.1f} +- {points[1][1]:.1f} % with 20 images")

fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for (name, points), style, color in zip(curves.items(), ("s--", "o-"), ("#b8860b", "#2166ac")):
    mean, se = np.transpose(points)
    ax.errorbar(sizes, mean, yerr=se, fmt=style, color=color, capsize=3, linewidth=2, label=name)
ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="images to learn from (3 or 8)", ylabel="shifted images classified correctly (%)")
ax.legend(loc="lower right")
plt.show()
