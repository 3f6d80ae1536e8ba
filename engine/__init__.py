"""Pure decisions and state: values in, values out. The clock, chance and storage are handed in."""
