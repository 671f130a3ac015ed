#!/usr/bin/env bash
# Say which system libraries Qt needs and this machine lacks, and how to install them. As root on Debian/Ubuntu: install them.
# Exit 0 when all are there (or were installed), 1 when something is missing.
set -u
debian=(libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libgssapi-krb5-2)
fedora=(mesa-libEGL mesa-libGL libxkbcommon dbus-libs fontconfig glib2 krb5-libs)
libraries=(libEGL.so.1 libGL.so.1 libxkbcommon.so.0 libdbus-1.so.3 libfontconfig.so.1 libglib-2.0.so.0 libgssapi_krb5.so.2)
if [ -n "${DISPLAY:-}" ]; then  # a window under X11 needs these too
    debian+=(libx11-xcb1 libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-image0 libxcb-render-util0 libxcb-shape0)
    fedora+=(libX11-xcb xcb-util-cursor libxkbcommon-x11 xcb-util-wm xcb-util-keysyms xcb-util-image xcb-util-renderutil libxcb)
    libraries+=(libX11-xcb.so.1 libxcb-cursor.so.0 libxkbcommon-x11.so.0 libxcb-icccm.so.4 libxcb-keysyms.so.1 libxcb-image.so.0 libxcb-render-util.so.0 libxcb-shape.so.0)
fi
[ "$(uname -s)" = Linux ] || exit 0
known=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null || true)
[ -n "$known" ] || exit 0
missing_debian=() missing_fedora=() missing=()
for i in "${!libraries[@]}"; do
    case "$known" in
        *"${libraries[$i]}"*) ;;
        *) missing+=("${libraries[$i]}"); missing_debian+=("${debian[$i]}"); missing_fedora+=("${fedora[$i]}") ;;
    esac
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing system libraries that Qt needs: ${missing_debian[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq "${missing_debian[@]}" >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -y -qq "${missing_debian[@]}" >/dev/null; } && exit 0
fi
cat >&2 <<TEXT
Qt needs system libraries that are missing here: ${missing[*]}
  Debian, Ubuntu:  sudo apt-get install ${missing_debian[*]}
  Fedora:          sudo dnf install ${missing_fedora[*]}
TEXT
exit 1
