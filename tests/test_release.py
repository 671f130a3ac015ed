"""What goes with a release."""

import hashlib

import pytest

from rigplanner import __version__
from tools import release


def test_program_changelog_and_citation_name_one_version():
    assert release.disagreements(__version__) == []
    assert len(release.disagreements("99.0.0")) == 2


def test_notes_are_the_section_of_the_version():
    text = "# C\n\n## [1.1.0]\n\n- new\n\n## [1.0.0]\n\n- old\n"
    assert release.notes(text, "1.1.0") == "- new\n"
    assert release.notes(text, "1.0.0") == "- old\n"
    with pytest.raises(ValueError, match=r"1\.0\.1"):
        release.notes(text, "1.0.1")


def test_checksums_are_those_that_sha256sum_checks(tmp_path):
    (tmp_path / "b").write_bytes(b"1")
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "SHA256SUMS").write_text("old")
    empty, one = hashlib.sha256(b"").hexdigest(), hashlib.sha256(b"1").hexdigest()
    assert release.checksums(tmp_path) == f"{empty}  a\n{one}  b\n"
