#!/usr/bin/env bash
# bare-system.sh DEB: installs the package in a bare Debian without Python, compilers or Qt, draws the
# window on a virtual display, checks a sample, writes its quote, removes the package, and compares the
# system with what it was before. Needs root, mmdebstrap, Xvfb and a Debian mirror.
set -euo pipefail
deb=$(realpath "$1") work=$(mktemp -d /var/tmp/rigplanner-bare.XXXXXX) display=93
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
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive DISPLAY=127.0.0.1:$display chroot "$root" "$@"; }
for tool in python3 gcc qmake6; do ! inside sh -c "command -v $tool" >/dev/null || { echo "not bare: $tool is there"; exit 1; }; done
# What the package depends on is installed first, so that before and after differ by the package alone.
cp "$deb" "$root/tmp/rigplanner.deb"
inside apt-get update -qq
inside sh -c 'apt-get install -y -qq --no-install-recommends $(dpkg-deb -f /tmp/rigplanner.deb Depends | sed "s/([^)]*)//g; s/,/ /g")' >/dev/null
listed() { (cd "$root" && find usr etc opt var -xdev -not -path 'var/lib/dpkg/*' -not -path 'var/cache/*' -not -path 'var/log/*' -not -path 'var/lib/apt/*' | sort); }
listed > "$work/before"
inside apt-get install -y -qq --no-install-recommends /tmp/rigplanner.deb >/dev/null
sample=/root/lab.rig
cp "$root/usr/lib/rigplanner/_internal/rigplanner/data_files/resources/samples/rtx-5090.rig" "$root$sample"
inside rigplanner --version
inside rigplanner check "$sample" > "$work/check" || [ $? = 1 ]
head -1 "$work/check"
inside rigplanner quote "$sample" -o /root/quote.pdf
[ "$(head -c 5 "$root/root/quote.pdf")" = "%PDF-" ] && echo "quote: $(stat -c %s "$root/root/quote.pdf") bytes"
Xvfb :$display -screen 0 1366x768x24 -listen tcp -ac >/dev/null 2>&1 & server=$!
sleep 2
# Named by its platform the window stays too: 124 is the word of timeout.
code=0; inside env QT_QPA_PLATFORM=xcb timeout 20 rigplanner >/dev/null || code=$?
[ $code = 124 ] || { echo "no window under QT_QPA_PLATFORM=xcb: $code"; exit 1; }
inside rigplanner "$sample" > "$work/window" 2>&1 & window=$!
colours=0
for _ in $(seq 60); do
    sleep 1
    colours=$(DISPLAY=:$display import -window root "$work/window.png" && identify -format %k "$work/window.png")
    [ "$colours" -lt 100 ] || break
done
kill $window 2>/dev/null || true
cat "$work/window"
[ "$colours" -ge 100 ] || { echo "no window: $colours colours on the display"; exit 1; }
[ -z "${PICTURE:-}" ] || cp "$work/window.png" "$PICTURE"
echo "window: drawn ($colours colours)"
inside apt-get purge -y -qq rigplanner >/dev/null
listed > "$work/after"
diff "$work/before" "$work/after" && echo "removed: nothing left but the user's own files"
