"""Tables with a known structure: the paper's benchmarks and the samples that come along."""
