"""From a queue and a forecast to starts that a scheduler obeys: `plan`, `replan`, and the commands that apply them."""
