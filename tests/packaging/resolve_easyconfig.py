#!/usr/bin/env python3
"""resolve_easyconfig.py OWN PUBLIC FILE: EasyBuild parses the easyconfig FILE and finds everything
that it depends on, with versions and toolchains, in the folders OWN and PUBLIC."""
import sys
import tempfile

from easybuild.tools.modules import NoModulesTool


class NoModules(NoModulesTool):
    """None are installed; EasyBuild lets nobody choose its own class of that kind."""


# These look for such classes when they are imported.
from easybuild.tools.options import set_up_configuration  # noqa: E402

own, public, file = sys.argv[1:]
set_up_configuration(silent=True, args=[
    "--allow-use-as-root-and-accept-consequences", "--ignore-index", "--modules-tool=NoModules",
    "--module-syntax=Tcl", f"--prefix={tempfile.mkdtemp()}", f"--robot={own}:{public}"])

from easybuild.framework.easyconfig.tools import parse_easyconfigs  # noqa: E402  (once configured)
from easybuild.tools.robot import resolve_dependencies  # noqa: E402

easyconfigs, _ = parse_easyconfigs([(file, False)])
found = resolve_dependencies(easyconfigs, NoModules(), retain_all_deps=True)
print("\n".join(easyconfig["full_mod_name"] for easyconfig in found))
