#!/usr/bin/env python3
"""containers.py ROOT [docker|apptainer|cuda]: executes what containers/ says in roots that
debootstrap makes. Only the source tree is bound into them, for reading. Exits 77 where that cannot
be done."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENTER = r"""
mkdir -p "$ROOT/src" "$ROOT/proc"
[[ -z $SOURCE ]] || { mount --bind "$SOURCE" "$ROOT/src" && mount -o remount,bind,ro "$ROOT/src"; }
mount -t proc proc "$ROOT/proc"
exec chroot "$ROOT" /usr/bin/env -i $INSIDE /bin/sh -ec "$COMMAND"
"""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def skip(why):
    print(f"containers: {why}: not tested")
    sys.exit(77)


def mirror():
    """Where this machine's apt has its packages from."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)"],
                          capture_output=True, text=True).stdout
    found = [line.split()[0] for line in said.splitlines() if line.endswith(" bookworm")]
    return found[0] if found else skip("apt knows no mirror of Debian 12")


class Image:
    """A root folder, and what ENV said. `source` is bound to its /src; None: it has a copy."""

    def __init__(self, base, folder, source):
        subprocess.run(["cp", "--archive", "--reflink=auto", base, folder], check=True)
        self.root, self.source, self.environment = folder, source, {"PATH": PATH}

    def run(self, command):
        print(f"  RUN {command[:90]}", flush=True)
        certificates = self.root / "etc/machine-certificates.crt"
        inside = {"PIP_CERT": "/etc/machine-certificates.crt"} if certificates.exists() else {}
        inside |= self.environment
        outside = {**os.environ, "ROOT": str(self.root), "SOURCE": str(self.source or ""),
                   "COMMAND": command, "INSIDE": " ".join(f"{k}={v}" for k, v in inside.items())}
        subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child",
                        "bash", "-euc", ENTER], env=outside, check=True)


def make_base(folder):
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder, mirror()], check=True,
                   stdout=subprocess.DEVNULL)
    # The network as this machine reaches it; a container runtime would see to that.
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    authorities = Path("/etc/ssl/certs/ca-certificates.crt")
    if authorities.exists():
        shutil.copy(authorities, folder / "etc/machine-certificates.crt")


def docker(base, work, source, file="Dockerfile"):
    """Every instruction of the Dockerfile, or an error for one that this does not know."""
    text = re.sub(r"\\\n", " ", (source / "containers" / file).read_text())
    images, image = {}, None
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if made := re.fullmatch(r"FROM debian:12(?: AS (\w+))?", line):
            image = images[made[1]] = Image(base, work / f"image{len(images)}", source)
        elif line == "COPY . /src" or word == "ENTRYPOINT":
            continue
        elif copied := re.fullmatch(r"COPY --from=(\w+) (/\S+) (/\S+)", line):
            target = image.root / copied[3][1:]
            subprocess.run(["cp", "--archive", images[copied[1]].root / copied[2][1:], target],
                           check=True)
        elif word == "ENV" and "=" in rest:
            image.environment.update([rest.split("=", 1)])
        elif word == "RUN":
            image.run(re.sub(r" +", " ", rest))
        else:
            sys.exit(f"{file}: {line}")
    return image


def cuda(base, work, source):
    return docker(base, work, source, "Dockerfile.cuda")


def apptainer(base, work, source):
    parts = re.split(r"^%(\w+)\n", (source / "containers/spillway.def").read_text(), flags=re.M)
    header, sections = parts[0], dict(zip(parts[1::2], parts[2::2]))
    assert re.search(r"^From: debian:12$", header, re.M), header
    assert sections.keys() == {"files", "post", "environment", "runscript", "test"}, sections
    image = Image(base, work / "image", None)
    (image.root / "src").mkdir()
    for line in sections["files"].strip().splitlines():
        *copied, target = line.split()
        assert target == "/src/", line
        subprocess.run(["cp", "--recursive", *(source / name for name in copied),
                        image.root / "src"], check=True)
    image.run(sections["post"])
    image.run(sections["test"])
    image.run(sections["environment"] + "set -- --version\n" + sections["runscript"])
    return image


def main():
    source, kinds = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["docker", "apptainer"]
    if os.getuid() != 0:
        skip("only root makes roots")
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_base(work / "base")
        for kind in kinds:
            print(kind)
            (work / kind).mkdir()
            image = {"docker": docker, "apptainer": apptainer, "cuda": cuda}[kind](
                work / "base", work / kind, source)
            image.run("spillway plan /opt/spillway/share/spillway/input/gpt.yaml model.vocab=50257"
                      " --machine /opt/spillway/share/spillway/input/machines/h100.yaml | head -n 1"
                      if kind != "apptainer" else "test -x /opt/spillway/bin/spillway")
            shutil.rmtree(work / kind)


if __name__ == "__main__":
    main()
