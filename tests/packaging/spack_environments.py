#!/usr/bin/env python3
"""spack_environments.py ROOT: the environments are what Spack reads, and ask the recipe for what
it has; one that the recipe refuses says so in its first lines."""
import sys
from pathlib import Path

import yaml
from spack_rules import Recipe
from spack_stub import name_of, variants_of

SECTIONS = {"specs", "packages", "concretizer", "view"}


def breaches(file, recipe):
    text = file.read_text()
    top = yaml.safe_load(text)
    if list(top) != ["spack"] or not set(top["spack"]) <= SECTIONS:
        yield f"sections {list(top)}: {list(top['spack'])}"
    roots = [spec for spec in top["spack"]["specs"] if name_of(spec) == "spillway"]
    if not roots:
        yield "spillway is not among the specs"
    for spec in roots:
        asked = variants_of(spec)
        for name in asked.keys() - recipe.variants.keys():
            yield f"{spec}: the recipe has no variant {name}"
        refused = [given for given in recipe.all("conflicts") if not given["when"]
                   and variants_of(given["spec"]).items() <= asked.items()]
        if bool(refused) != ("Not yet:" in text.split("spack:")[0]):
            yield f"{spec}: refused by {len(refused)} conflicts, and its head says otherwise"
        if asked.get("cuda") and "cuda_arch" not in asked:
            yield f"{spec}: names no cuda_arch"
    for name, settings in top["spack"].get("packages", {}).items():
        for external in settings.get("externals", []):
            if name_of(external["spec"]) != name or not external["prefix"].startswith("/"):
                yield f"external of {name}: {external}"


def main():
    root = Path(sys.argv[1]).resolve()
    recipe = Recipe(root / "spack/spack_repo/spillway/packages/spillway/package.py")
    files = {file.stem: file for file in (root / "spack/environments").glob("*.yaml")}
    found = [f"{name}.yaml: {text}" for name, file in files.items()
             for text in breaches(file, recipe)]
    if not files.keys() >= {"cpu", "cuda", "slurm-cluster"}:
        found.append(f"environments: only {sorted(files)}")
    for breach in found:
        print(breach)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
