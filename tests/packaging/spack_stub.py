"""Stands in for Spack while a recipe is imported: directives keep Spack's signatures and are
written down, the builder's helpers do what Spack's do. Any other name is none that we know."""
import importlib.util
import os
import re
import sys
import types

# As many as a test needs to see that all are forwarded.
CUDA_ARCHES = ("70", "80", "90", "90a", "100")
TOO_OLD = ("70",)


class Recorder:
    """Every directive of the class body that is being run, as (name, arguments)."""

    def __init__(self):
        self.directives = []

    def keep(self, directive, **arguments):
        self.directives.append((directive, arguments))

    def directive_functions(self):
        keep = self.keep

        def version(ver, checksum=None, *, sha256=None, url=None, git=None, branch=None, tag=None,
                    commit=None, preferred=None, deprecated=None, submodules=None):
            keep("version", ver=ver, pinned=checksum or sha256 or commit, branch=branch, tag=tag)

        def variant(name, default=None, description="", values=(True, False), multi=None,
                    validator=None, when=None, sticky=False):
            keep("variant", name=name, default=default, description=description, when=when)

        def depends_on(spec, when=None, type=("build", "link"), *, patches=None):
            types_ = (type,) if isinstance(type, str) else tuple(type)
            keep("depends_on", spec=spec, when=when, types=types_)

        def conflicts(conflict_spec, when=None, msg=None):
            keep("conflicts", spec=conflict_spec, when=when, msg=msg)

        def requires(*requirement_specs, policy="one_of", when=None, msg=None):
            for spec in requirement_specs:
                keep("requires", spec=spec, when=when, msg=msg)

        def resource(*, name=None, destination="", placement=None, when=None, url=None,
                     sha256=None):
            keep("resource", name=name, place=placement or destination, when=when, url=url,
                 pinned=sha256)

        def maintainers(*names):
            keep("maintainers", names=names)

        def license(license_identifier, checked_by=None, when=None):
            keep("license", identifier=license_identifier)

        def generator(*names, default=None):
            keep("variant", name="generator", default=default or names[0],
                 description="the build system generator to use", when=None)
            for name in names:
                tool = "gmake" if name == "make" else name
                keep("depends_on", spec=tool, when=f"generator={name}", types=("build",))

        return {f.__name__: f for f in (version, variant, depends_on, conflicts, requires,
                                        resource, maintainers, license, generator)}


def value_text(value):
    if isinstance(value, bool):
        return "BOOL", "ON" if value else "OFF"
    return "STRING", ";".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


class CMakePackage:
    run_tests = False
    build_directory = "build"
    stage = types.SimpleNamespace(source_path="/stage")

    def define(self, name, value):
        kind, text = value_text(value)
        return f"-D{name}:{kind}={text}"

    def define_from_variant(self, name, variant=None):
        variant = variant or name.lower()
        if variant not in self.spec.values:
            raise KeyError(f"define_from_variant: no variant {variant}")
        return self.define(name, self.spec.values[variant])

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/prefix/{name}")


class CudaPackage:
    cuda_arch_values = CUDA_ARCHES


class Spec:
    """A concrete root spec, by the values of its variants."""

    def __init__(self, values):
        self.values = values
        self.variants = {name: types.SimpleNamespace(value=value)
                         for name, value in values.items()}

    def satisfies(self, text):
        wanted = variants_of(text)
        return all(self.values.get(name) == value for name, value in wanted.items())


def name_of(spec):
    return re.match(r"[a-z0-9-]*", spec).group()


def variants_of(spec):
    """The variants that a spec names, for itself and not for what it depends on."""
    own = (spec or "").split("^")[0].split("%")[0]
    found = {name: sign == "+" for sign, name in re.findall(r"([+~])(\w+)", own)}
    found.update(re.findall(r"(\w+)=([\w.]+)", own))
    return found


def module(name, **names):
    made = types.ModuleType(name)
    vars(made).update(names)
    made.__path__ = []
    return made


def load(path):
    """The module of the recipe at `path`, and its directives."""
    recorder = Recorder()
    functions = recorder.directive_functions()
    generator = functions.pop("generator")
    helpers = dict(join_path=os.path.join, working_dir=None, ctest=None, which=None,
                   Executable=None, check_outputs=None, install_tree=None)
    stubs = [module("spack"), module("spack.package", **functions, **helpers),
             module("spack_repo"), module("spack_repo.builtin"),
             module("spack_repo.builtin.build_systems"),
             module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage,
                    generator=generator),
             module("spack_repo.builtin.build_systems.cuda", CudaPackage=CudaPackage)]
    sys.modules.update({stub.__name__: stub for stub in stubs})
    recorder.keep("variant", name="cuda", default=False, description="Build with CUDA", when=None)
    recorder.keep("variant", name="cuda_arch", default="none", description="CUDA architecture",
                  when="+cuda")
    recorder.keep("variant", name="build_type", default="Release", description="", when=None)
    found = importlib.util.spec_from_file_location("recipe", path)
    recipe = importlib.util.module_from_spec(found)
    found.loader.exec_module(recipe)
    return recipe, recorder.directives
