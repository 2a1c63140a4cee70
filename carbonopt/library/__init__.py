"""The library of instances: recipes of generated ones, and of public data that is not shipped."""
