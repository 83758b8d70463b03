"""
Runs the code cells of a notebook in order, in one namespace, and prints figures of it as JSON. The cells are plain
Python: a kernel would add sixty packages and show nothing more.
"""

import json
import sys

plan = json.loads(sys.argv[1])
with open(plan["notebook"]) as file:
    cells = json.load(file)["cells"]
namespace = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), cell["id"], "exec"), namespace)
print(json.dumps({name: eval(expression, namespace) for name, expression in plan["figures"].items()}))
