"""What cases prove about rules: which rules they reach, which conditions they hold, how right the whole is."""
