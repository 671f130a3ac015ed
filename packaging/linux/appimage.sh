#!/usr/bin/env bash
# appimage.sh VERSION: build/linux -> dist/RigPlanner-VERSION-x86_64.AppImage, a runtime with a squashfs
# behind it. mksquashfs is Debian's; the runtime, one file from the releases of
# github.com/AppImage/type2-runtime or compiled from its source, is named by APPIMAGE_RUNTIME.
set -euo pipefail
cd "$(dirname "$0")/../.."
id=io.github.rigplanner.RigPlanner image=dist/RigPlanner-$1-x86_64.AppImage runtime=${APPIMAGE_RUNTIME:-}
[ -f "$runtime" ] || { echo "AppImage: APPIMAGE_RUNTIME names no runtime, and no registry carries one."; exit 3; }
[ "$(head -c 11 "$runtime" | tail -c 3 | od -An -tx1)" = " 41 49 02" ] || { echo "AppImage: $runtime is no runtime of type 2."; exit 3; }
command -v mksquashfs >/dev/null || { echo "AppImage: no mksquashfs here (Debian: squashfs-tools)."; exit 3; }
rm -rf build/appdir build/appdir.squashfs && mkdir -p build/appdir/usr/lib
cp -r build/linux/folder build/appdir/usr/lib/rigplanner
cp -r build/linux/share build/appdir/usr/share
cp build/linux/share/applications/$id.desktop build/linux/share/icons/hicolor/scalable/apps/$id.svg build/appdir/
ln -s $id.svg build/appdir/.DirIcon
ln -s usr/lib/rigplanner/rigplanner build/appdir/AppRun
day=$(git log -1 --format=%ct 2>/dev/null || echo 0)
mksquashfs build/appdir build/appdir.squashfs -quiet -no-progress -root-owned -comp zstd \
    -mkfs-time "$day" -all-time "$day"
cat "$runtime" build/appdir.squashfs > "$image"
chmod +x "$image"
echo "$image"
