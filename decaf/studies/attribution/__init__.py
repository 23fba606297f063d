"""Attribution benchmarks: birds with parts, parts replaced by other means, classifiers by parts."""
