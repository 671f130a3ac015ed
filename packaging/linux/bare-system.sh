#!/usr/bin/env bash
# bare-system.sh PACKAGE...: tries packages (.deb, .tar.gz, .AppImage) in a bare Debian without Python,
# compilers or Qt, one after the other: puts each in, draws the window on a virtual display, checks a
# sample, writes its quote, takes the package out, and compares the system with what it was before.
# Needs root, mmdebstrap, Xvfb, ImageMagick and a Debian mirror; the first package is a .deb, whose list
# of what it depends on serves them all.
set -euo pipefail
work=$(mktemp -d /var/tmp/rigplanner-bare.XXXXXX) display=${DISPLAY_NUMBER:-93}
root=$work/root
end() {
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
    umount -R "$root/dev" "$root/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
mmdebstrap --quiet --variant=apt "${SUITE:-bookworm}" "$root"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" && mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive DISPLAY="127.0.0.1:$display" chroot "$root" "$@"; }
listed() { (cd "$root" && find usr etc opt var -xdev -not -path 'var/lib/dpkg/*' -not -path 'var/cache/*' -not -path 'var/log/*' -not -path 'var/lib/apt/*' | sort); }
for tool in python3 gcc qmake6; do ! inside sh -c "command -v $tool" >/dev/null || { echo "not bare: $tool is there"; exit 1; }; done
# What the packages depend on is installed first, so that before and after differ by the package alone.
inside apt-get update -qq
read -ra needed < <(dpkg-deb -f "$1" Depends | sed 's/([^)]*)//g; s/,/ /g')
inside apt-get install -y -qq --no-install-recommends "${needed[@]}" >/dev/null
cp "$(dirname "$0")/../../resources/samples/rtx-5090.rig" "$root/root/lab.rig"
Xvfb ":$display" -screen 0 1366x768x24 -listen tcp -ac >/dev/null 2>&1 & server=$!

tried() {  # tried PROGRAM: it answers, checks, quotes, and its window is drawn
    rm -rf "$root/root/.cache" "$root/root/quote.pdf"
    inside "$1" --version
    inside "$1" check /root/lab.rig > "$work/check" || [ $? = 1 ]
    head -1 "$work/check"
    inside "$1" quote /root/lab.rig -o /root/quote.pdf
    [ "$(head -c 5 "$root/root/quote.pdf")" = "%PDF-" ] && echo "quote: $(stat -c %s "$root/root/quote.pdf") bytes"
    # Named by its platform the window stays too: 124 is the word of timeout.
    code=0; inside env QT_QPA_PLATFORM=xcb timeout 20 "$1" >/dev/null || code=$?
    [ $code = 124 ] || { echo "no window under QT_QPA_PLATFORM=xcb: $code"; exit 1; }
    inside sh -c 'echo $$ > /tmp/window; exec "$@"' sh "$1" /root/lab.rig > "$work/window" 2>&1 &
    colours=0
    for _ in $(seq 60); do
        sleep 1
        colours=$(DISPLAY=:$display import -window root "$work/window.png" && identify -format %k "$work/window.png")
        [ "$colours" -lt 100 ] || break
    done
    kill "$(cat "$root/tmp/window")" || { echo "the window is gone"; cat "$work/window"; exit 1; }
    wait $! || true
    cat "$work/window"
    [ "$colours" -ge 100 ] || { echo "no window: $colours colours on the display"; exit 1; }
    [ -z "${PICTURE:-}" ] || cp "$work/window.png" "$PICTURE"
    echo "window: drawn ($colours colours)"
}

for package in "$@"; do
    echo "== $(basename "$package")"
    listed > "$work/before"
    case $package in
        *.deb)
            cp "$package" "$root/tmp/rigplanner.deb"
            inside apt-get install -y -qq --no-install-recommends /tmp/rigplanner.deb >/dev/null
            tried rigplanner
            inside apt-get purge -y -qq rigplanner >/dev/null ;;
        *.tar.gz)
            mkdir "$root/opt/rigplanner"
            tar -xzf "$package" -C "$root/opt/rigplanner" --strip-components=1
            tried /opt/rigplanner/folder/rigplanner
            rm -r "$root/opt/rigplanner" ;;
        *.AppImage)
            cp "$package" "$root/root/RigPlanner.AppImage"
            tried /root/RigPlanner.AppImage
            rm "$root/root/RigPlanner.AppImage" ;;
    esac
    listed > "$work/after"
    diff "$work/before" "$work/after" && echo "removed: nothing left but the user's own files"
done
