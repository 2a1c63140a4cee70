import subprocess
import sys

HEAVY = ("numba", "pyomo", "cvxpy", "matplotlib", "pandas", "scipy", "pydantic", "highspy", "typer")


def test_import_stays_light():
    code = f"import sys, carbonopt; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
