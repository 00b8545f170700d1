"""What a run writes down: samples with units, in CSV and Parquet, and the true causes beside them."""
