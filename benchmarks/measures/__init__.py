"""What is measured: each module has a `measure`, which returns figures."""
