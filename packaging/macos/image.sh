#!/usr/bin/env bash
# build/folder/RigPlanner.app -> dist/RigPlanner-VERSION.dmg; signed and notarised where IDENTITY and the
# three APPLE_ variables name an account, else unsigned, which is said.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(python -c 'import rigplanner; print(rigplanner.__version__)')
app=build/folder/RigPlanner.app image=dist/RigPlanner-$version.dmg
if [ -n "${IDENTITY:-}" ]; then
    codesign --force --deep --timestamp --options runtime --sign "$IDENTITY" "$app"
else
    echo "No IDENTITY: the image is not signed, and macOS will warn."
fi
hdiutil create -volname RigPlanner -srcfolder "$app" -ov -format UDZO "$image"
if [ -n "${APPLE_ID:-}" ] && [ -n "${IDENTITY:-}" ]; then
    xcrun notarytool submit "$image" --apple-id "$APPLE_ID" --team-id "$APPLE_TEAM" --password "$APPLE_PASSWORD" --wait
    xcrun stapler staple "$image"
fi
