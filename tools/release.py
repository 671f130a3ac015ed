"""`make release`: what a release carries beside its packages, after all checks have passed.

Writes into dist/: notes (from CHANGELOG.md), a bill of materials (CycloneDX), SHA256SUMS of all
that lies there. Refuses a release on whose version the changelog, the citation and the program
disagree."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from rigplanner import __version__

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def notes(changelog: str, version: str) -> str:
    """Return what the changelog says of a version. Raises ValueError when it says nothing."""
    found = re.search(
        rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.S | re.M
    )
    if found is None or not found[1].strip():
        raise ValueError(f"CHANGELOG.md: no section of {version}.")
    return found[1].strip() + "\n"


def disagreements(version: str) -> list[str]:
    """Return what names another version than the program's."""
    said = []
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    if citation is None or citation[1] != version:
        said.append(f"CITATION.cff: expected version {version}.")
    try:
        notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    except ValueError as fault:
        said.append(str(fault))
    return said


def bill_of_materials(target: Path) -> None:
    """Write what the program is made of: cyclonedx-py reads an environment of nothing but it."""
    place = ROOT / "build" / "materials"
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    wheel = next(DIST.glob(f"rigplanner-{__version__}-*.whl"))
    python = place / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    subprocess.run(
        [python, "-m", "pip", "uninstall", "--quiet", "-y", "pip", "setuptools"], check=True
    )
    reader = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    described = ["--pyproject", ROOT / "pyproject.toml", "-o", target, python]
    subprocess.run([*reader, *described], check=True)


def checksums(folder: Path) -> str:
    """Return the lines of SHA256SUMS for all files of a folder, as sha256sum writes them."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS"
    )
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )


def main() -> int:
    """Write notes, bill and sums; exit with 1 when versions disagree."""
    said = disagreements(__version__)
    if said:
        print("\n".join(said), file=sys.stderr)
        return 1
    DIST.mkdir(exist_ok=True)
    (DIST / "NOTES.md").write_text(
        notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__), "utf-8"
    )
    bill_of_materials(DIST / f"rigplanner-{__version__}.cdx.json")
    (DIST / "SHA256SUMS").write_text(checksums(DIST), "ascii")
    print((DIST / "SHA256SUMS").read_text("ascii"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
