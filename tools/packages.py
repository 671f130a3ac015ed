"""`make packages`: everything that can be built on this machine, and why the rest could not.

Writes into dist/: the self-contained folder as tar.gz, the Debian package, the AppImage, the wheels
and the source archive. What a system of its own must build (the Windows installer, the macOS image)
is built by the workflow `packages`."""

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import libc_ver
from tempfile import TemporaryDirectory

from rigplanner import __version__
from rigplanner.catalog.load import family_files
from rigplanner.data import PACKED
from tools.icu_data import slim
from tools.shell_words import write as write_shell_words

ROOT = Path(__file__).resolve().parent.parent
APP = "io.github.rigplanner.RigPlanner"
DIST, BUILD = ROOT / "dist", ROOT / "build"
LINUX = BUILD / "linux"
DEPENDS = (
    f"libc6 (>= {libc_ver()[1]})", "libstdc++6 (>= 11)", "libegl1", "libgl1", "libx11-xcb1",
    "libzstd1", "libfontconfig1", "libglib2.0-0", "libdbus-1-3", "libgssapi-krb5-2",
)  # fmt: skip
"""What the folder does not bring: the C and C++ libraries, the drivers' own OpenGL and what it
stands on, where fonts lie, and what every desktop speaks with."""
LINKED = "-Wl,-z,noseparate-code,--gc-sections,--hash-style=gnu,--build-id=none" + (
    ",-z,pack-relative-relocs" if libc_ver()[1] >= "2.36" else ""
)
"""Flags of GNU's linker; loaders before glibc 2.36 read no packed relocations."""
OF_GNU = (
    "setup-args=-Dc_args=-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables",
    f"setup-args=-Dc_link_args={LINKED}",
    f"setup-args=-Dcpp_link_args={LINKED}",
)
SHORT = (
    "setup-args=-Doptimization=s",
    "setup-args=-Db_ndebug=true",
    *(OF_GNU if sys.platform == "linux" else ()),
)
"""How numpy and pandas are built for the folder: for size. Tables here have some hundred rows."""
WITHOUT_BLAS = (
    "setup-args=-Dallow-noblas=true",
    "setup-args=-Dblas=none",
    "setup-args=-Dlapack=none",
    "setup-args=-Dcpu-dispatch=none",
    *SHORT,
)
"""numpy's wheel brings OpenBLAS, 28 MB for the inverse of small matrices, and loops for each kind
of processor."""
PLAIN_PICTURES = tuple(
    f"{form}=disable"
    for form in ("xcb", "webp", "avif", "tiff", "jpeg2000", "lcms", "imagequant", "raqm")
)
"""How Pillow is built for the folder: logos are PNG or JPEG, and FreeType writes on the map."""
ICON_SIZES = (16, 24, 32, 48, 64, 128, 256)


def run(*words: str | Path, **environment: str) -> None:
    """Run a command in the root of the repository; raises CalledProcessError."""
    subprocess.run(
        [str(word) for word in words], cwd=ROOT, check=True, env={**os.environ, **environment}
    )


def day() -> str:
    """Return the day of the last commit: packages of one commit are equal whenever they are
    built."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return datetime.fromtimestamp(int(told or 0), UTC).date().isoformat()


def icons() -> None:
    """Write build/rigplanner.ico and .icns from packaging/icon.svg."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PIL import Image
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    picture = QImage(1024, 1024, QImage.Format.Format_ARGB32)
    picture.fill(0)
    painter = QPainter(picture)
    QSvgRenderer(str(ROOT / "packaging" / "icon.svg")).render(painter)
    painter.end()
    picture.save(str(BUILD / "icon.png"))
    image = Image.open(BUILD / "icon.png")
    image.save(BUILD / "rigplanner.ico", sizes=[(size, size) for size in ICON_SIZES])
    image.save(BUILD / "rigplanner.icns")
    del application


def folder() -> Path:
    """Build the self-contained folder; return it."""
    BUILD.mkdir(exist_ok=True)
    icons()
    run(
        sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN",
        "--distpath", BUILD / "folder", "--workpath", BUILD / "pyinstaller",
        ROOT / "packaging" / "rigplanner.spec",
        PYTHONPATH=os.pathsep.join(
            str(lean(package, settings))
            for package, settings in (
                ("numpy", WITHOUT_BLAS), ("pillow", PLAIN_PICTURES), ("pandas", SHORT)
            )
        ),
    )  # fmt: skip
    made = BUILD / "folder" / "rigplanner"
    pack(made / "_internal" / "rigplanner" / "data_files")
    if sys.platform == "linux":
        strip(made)
        for library in made.rglob("libicudata.so.*"):
            if not library.is_symlink():
                slim(library)
    return made


def lean(package: str, settings: Sequence[str]) -> Path:
    """Return a folder with a package built from its source with these settings, made once; an
    empty one where it cannot be built, so that its wheel is taken. pip does not tell wheels that it
    has built by their settings: who changes them says `pip cache remove` first."""
    place = BUILD / f"{package}-{version(package)}"
    if place.exists():
        return place
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    built = subprocess.run(
        [*install, "--target", place, "--no-binary", package, f"{package}=={version(package)}"]
        + [word for setting in settings for word in ("-C", setting)],
        check=False, cwd=ROOT,
    )  # fmt: skip
    if built.returncode:
        print(f"not built  {package} from its source (wants compilers, zlib, JPEG, FreeType)")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    return place


def pack(data: Path) -> None:
    """Pack what is long and read through `read_shipped`."""
    resources, catalog = data / "resources", data / "catalog"
    for file in (
        *family_files(catalog),
        *(catalog / "models").glob("*.json"),
        *(catalog / "benchmarks").glob("measured-*.json"),
        *(catalog / "benchmarks").glob("apart-*.json"),
        *(resources / "translations").glob("*.po"),
        *(resources / "fonts").glob("NotoSansTC-*.ttf"),
    ):
        file.with_name(file.name + PACKED).write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        file.unlink()


def strip(made: Path) -> None:
    """Take the symbols out of libraries; those in `*.libs` were moved by their makers' tools and
    would no longer load."""
    for library in made.rglob("*.so*"):
        if library.is_file() and not library.is_symlink() and ".libs" not in str(library):
            subprocess.run(["strip", "--strip-unneeded", library], check=False, capture_output=True)


def works(made: Path) -> None:
    """Let the folder do by itself what asks for the libraries that are cut down: compare, export,
    judge its accuracy, draw, write in Chinese. Raises CalledProcessError, and SystemExit when a
    file is missing."""
    program = made / ("rigplanner.exe" if sys.platform == "win32" else "rigplanner")
    samples = made / "_internal" / "rigplanner" / "data_files" / "resources" / "samples"
    one, two = sorted(samples.glob("*.rig"))[:2]
    with TemporaryDirectory() as place:
        for command, file in (
            (("compare", one, two, "--format", "xlsx"), "compare.xlsx"),
            (("compare", one, two, "--format", "csv"), "compare.csv"),
            (("export", one, "--format", "csv"), "rig.csv"),
            (("export", one, "--format", "xlsx"), "rig.xlsx"),
            (("quote", one), "quote.pdf"),
            (("quote", one, "--language", "zh_TW"), "chinese.pdf"),
            (("catalog", "export", "--format", "sqlite"), "catalog.sqlite"),
            (("rank", "resnet-50", "--format", "png"), "map.png"),
        ):
            target = Path(place) / file
            run(program, *command, "-o", target, XDG_CACHE_HOME=place, XDG_DATA_HOME=place)
            if not target.stat().st_size:
                raise SystemExit(f"{file}: the folder wrote nothing")
        cases = (ROOT / "tests/memory/measured_adapters.jsonl").read_text("utf-8").splitlines()
        few = Path(place) / "few.jsonl"
        few.write_text("\n".join(cases[:3]), "utf-8")
        run(program, "validate", few, XDG_CACHE_HOME=place, XDG_DATA_HOME=place)


def linux_tree(made: Path) -> None:
    """Write build/linux: the folder, and what stands in /usr/share."""
    shutil.rmtree(LINUX, ignore_errors=True)
    shutil.copytree(made, LINUX / "folder", symlinks=True)
    share = LINUX / "share"
    of_linux = ROOT / "packaging" / "linux"
    for source, target in (
        (of_linux / f"{APP}.desktop", f"applications/{APP}.desktop"),
        (of_linux / f"{APP}.mime.xml", f"mime/packages/{APP}.xml"),
        (ROOT / "packaging" / "icon.svg", f"icons/hicolor/scalable/apps/{APP}.svg"),
        (
            ROOT / "packaging" / "icon.svg",
            "icons/hicolor/scalable/mimetypes/application-x-rigplanner-rig.svg",
        ),
    ):
        (share / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, share / target)
    told = (of_linux / f"{APP}.metainfo.xml").read_text("utf-8")
    told = told.replace("@VERSION@", __version__).replace("@DATE@", day())
    (share / "metainfo").mkdir()
    (share / "metainfo" / f"{APP}.metainfo.xml").write_text(told, "utf-8")
    copyright_file = share / "doc" / "rigplanner" / "copyright"
    copyright_file.parent.mkdir(parents=True)
    copyright_file.write_text(
        "\n\n".join(
            (ROOT / name).read_text("utf-8")
            for name in ("LICENSE", "catalog/LICENSE", "resources/LICENSES.md")
        ),
        "utf-8",
    )
    write_shell_words(share)


def tar_gz() -> Path:
    """Write the folder as one archive with its entries of the menu beside it."""
    target = DIST / f"rigplanner-{__version__}-linux-x86_64.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        archive.add(LINUX, f"rigplanner-{__version__}")
    return target


def deb() -> Path:
    """Write the Debian package with dpkg-deb."""
    tree = BUILD / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "DEBIAN").mkdir(parents=True)
    shutil.copytree(LINUX / "folder", tree / "usr/lib/rigplanner", symlinks=True)
    shutil.copytree(LINUX / "share", tree / "usr/share")
    (tree / "usr/bin").mkdir()
    (tree / "usr/bin/rigplanner").symlink_to("../lib/rigplanner/rigplanner")
    run("gzip", "-9n", tree / "usr/share/man/man1/rigplanner.1")
    size = sum(file.lstat().st_size for file in tree.rglob("*") if file.is_file()) // 1024
    (tree / "DEBIAN/control").write_text(
        f"Package: rigplanner\nVersion: {__version__}\nSection: science\nPriority: optional\n"
        f"Architecture: amd64\nInstalled-Size: {size}\n"
        "Maintainer: The RigPlanner authors <rigplanner@localhost>\n"
        f"Depends: {', '.join(DEPENDS)}\nRecommends: libcups2\n"
        "Description: plan a deep-learning rig before buying it\n"
        " RigPlanner checks whether processors, GPUs, memory, drives, boards, power supplies\n"
        " and cases work together, what the machine can train or serve, how fast, and at what\n"
        " cost. It has a window and a command line, and writes quotes as PDF.\n",
        "utf-8",
    )
    target = DIST / f"rigplanner_{__version__}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, target)
    return target


def app_image() -> list[Path]:
    """Return the AppImage, where a runtime for it is named; else say why there is none."""
    made = subprocess.run(
        [ROOT / "packaging/linux/appimage.sh", __version__], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if made.returncode == 3:
        print(f"not built  {made.stdout.strip()}")
        return []
    made.check_returncode()
    return [ROOT / made.stdout.strip()]


def python_archives() -> list[Path]:
    """Build wheel and source archive twice and refuse them unless both are equal byte by byte;
    then the wheel without Qt."""
    first, second = BUILD / "python-1", BUILD / "python-2"
    for place in (first, second):
        shutil.rmtree(place, ignore_errors=True)
        run(sys.executable, "-m", "hatchling", "build", "-d", place)
    made = sorted(first.iterdir())
    for archive in made:
        if archive.read_bytes() != (second / archive.name).read_bytes():
            raise SystemExit(f"{archive.name}: two builds of one commit differ.")
    headless = BUILD / "python-headless"
    shutil.rmtree(headless, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", headless],
        cwd=ROOT / "packaging" / "headless", check=True,
    )  # fmt: skip
    return [Path(shutil.copy(file, DIST)) for file in (*made, *headless.iterdir())]


def told(path: Path) -> None:
    print(f"built      {path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.1f} MB")


def main() -> int:
    """Build all; print one line for each package, built or not."""
    DIST.mkdir(exist_ok=True)
    for archive in python_archives():
        told(archive)
    made = folder()
    size = sum(file.stat().st_size for file in made.rglob("*") if not file.is_symlink())
    print(f"built      {made.relative_to(ROOT)}  {size / 1e6:.1f} MB unpacked")
    works(made)
    print("tried      comparison, tables, workbooks, quotes, picture, accuracy: written")
    if sys.platform != "linux":
        print("not built  Linux packages: this is no Linux")
        return 0
    linux_tree(made)
    archive = tar_gz()
    told(archive)
    package = deb() if shutil.which("dpkg-deb") else None
    if package:
        told(package)
    else:
        print("not built  .deb: no dpkg-deb here")
    images = app_image()
    for image in images:
        told(image)
    print(
        "not built  Flatpak: flatpak-builder fetches its runtime from flathub.org; the manifest is"
        " packaging/flatpak"
    )
    print("not built  Windows installer, macOS image: built on those systems (workflow `packages`)")
    if package and os.geteuid() == 0 and shutil.which("mmdebstrap") and shutil.which("Xvfb"):
        run(ROOT / "packaging/linux/bare-system.sh", package, archive, *images)
    else:
        print("not tested in a bare Debian: that needs root, mmdebstrap, Xvfb and ImageMagick")
    return 0


if __name__ == "__main__":
    sys.exit(main())
