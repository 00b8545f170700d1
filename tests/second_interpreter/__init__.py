"""A second, slow interpreter of the one model's rules, laid beside every `proved` and `conflict` of random designs."""
