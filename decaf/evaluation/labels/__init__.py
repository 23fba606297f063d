"""What units of a study show: labels that E, C and F are judged by."""
