"""The measurements. The function `measure` of each module returns figures."""
