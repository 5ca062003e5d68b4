"""What is learned from labelled questions: the means of e5, and how sure an answer is. `make tune` makes both anew."""
