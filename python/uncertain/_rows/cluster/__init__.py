"""What `OnDask` is made of.

`rows` goes from partitions to groups of Gaussians on the workers, `piece` is such a group, `work` is what
workers do, and `passes` asks them, with limits on time and attempts. `answers` is for what is asked of
a table once, without a fit.
"""
