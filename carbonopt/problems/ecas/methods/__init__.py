"""What solves ecas instances, or bounds them."""
