#!/usr/bin/env bash
# build/linux -> dist/RigPlanner-VERSION-x86_64.AppImage. `appimagetool` is one file from the releases of
# github.com/AppImage/appimagetool; no package registry carries it, so it is taken from PATH.
set -euo pipefail
cd "$(dirname "$0")/../.."
id=io.github.rigplanner.RigPlanner version=$1
command -v appimagetool >/dev/null || { echo "AppImage: not built, appimagetool is not on PATH."; exit 3; }
rm -rf build/appdir && mkdir -p build/appdir/usr/lib
cp -r build/linux/folder build/appdir/usr/lib/rigplanner
cp -r build/linux/share build/appdir/usr/share
cp build/linux/share/applications/$id.desktop build/linux/share/icons/hicolor/scalable/apps/$id.svg build/appdir/
ln -s usr/lib/rigplanner/rigplanner build/appdir/AppRun
ARCH=x86_64 appimagetool --no-appstream build/appdir "dist/RigPlanner-$version-x86_64.AppImage"
