"""Makes the key that vouches for editions of the data, and signs one.

    python -m tools.sign_edition key PRIVATE.key
        a new key; its public half goes into resources/updates.json
    python -m tools.sign_edition PRIVATE.key FOLDER
        FOLDER/data-EDITION.zip, index.json, index.json.sig

The private half must never come into the repository: keep it where the releases are made."""

import hashlib
import json
import sys
import zipfile
from pathlib import Path

from nacl.signing import SigningKey

from rigplanner import __version__

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "resources" / "updates.json"
SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every entry: archives of equal data are equal."""


def make_key(target: Path) -> None:
    """Write a new private key, and its public half into `resources/updates.json`."""
    if target.resolve().is_relative_to(ROOT):
        raise SystemExit(f"{target} lies in the repository: keep the key elsewhere.")
    key = SigningKey.generate()
    target.touch(mode=0o600, exist_ok=False)
    target.write_text(key.encode().hex())
    place = json.loads(PLACE.read_text("utf-8")) | {"public_key": key.verify_key.encode().hex()}
    PLACE.write_text(json.dumps(place, indent=2) + "\n", "utf-8")


def archive(catalog: Path, target: Path) -> bytes:
    """Write the catalog as one archive; return its bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(path for path in catalog.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"catalog/{file.relative_to(catalog).as_posix()}", SAME_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, file.read_bytes())
    return target.read_bytes()


def sign(key: SigningKey, catalog: Path, folder: Path, program: str = __version__) -> None:
    """Write archive, index and signature of a catalog into the folder."""
    edition = (catalog / "VERSION").read_text("ascii").strip()
    folder.mkdir(parents=True, exist_ok=True)
    name = f"data-{edition}.zip"
    index = {
        "edition": edition,
        "archive": name,
        "sha256": hashlib.sha256(archive(catalog, folder / name)).hexdigest(),
        "least_program": program,
        "program": program,
    }
    content = (json.dumps(index, indent=2) + "\n").encode()
    (folder / "index.json").write_bytes(content)
    (folder / "index.json.sig").write_text(key.sign(content).signature.hex(), "ascii")


def main(words: list[str]) -> int:
    """Make a key, or sign."""
    if len(words) != 2:
        raise SystemExit(__doc__)
    if words[0] == "key":
        make_key(Path(words[1]))
    else:
        sign(
            SigningKey(bytes.fromhex(Path(words[0]).read_text())), ROOT / "catalog", Path(words[1])
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
