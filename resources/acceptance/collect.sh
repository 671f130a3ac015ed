#!/bin/sh
# Collects what this computer shows of itself, for `rigplanner accept RIG --from FOLDER`.
# Plain shell; it installs nothing, sends nothing and changes nothing. Serial numbers, host and user
# names, network addresses and UUIDs are taken out of every file: look at them before you send them.
#
#   sh collect.sh [FOLDER]        (default: ./rigplanner-capture)
#   sudo sh collect.sh [FOLDER]   adds: PCIe links of lspci, memory modules and BIOS of dmidecode,
#                                 kernel errors of dmesg, health of drives
# Put load on the GPUs meanwhile (any training or benchmark): links and clocks fall back at rest.
# Outputs of tests that you ran (nccl-tests, nvbandwidth, fio, llama-bench, gpu-burn ...) may be
# copied into the same folder.

set -u
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin:/opt/rocm/bin
out=${1:-rigplanner-capture}
mkdir -p "$out" || exit 2
host=$(uname -n 2>/dev/null || echo)
user=$(id -un 2>/dev/null || echo)
root=no
[ "$(id -u)" = 0 ] && root=yes

# A text without what names a person or a thing: names of host and user, MAC, IPv4 and IPv6 addresses,
# UUIDs, GUIDs, serial numbers and asset tags, home folders.
clean() {
    sed -e "s|/home/[^/ \"']*|/home/-|g" \
        -e 's/[0-9A-Fa-f]\{8\}-[0-9A-Fa-f]\{4\}-[0-9A-Fa-f]\{4\}-[0-9A-Fa-f]\{4\}-[0-9A-Fa-f]\{12\}/-/g' \
        -e 's/\([0-9A-Fa-f][0-9A-Fa-f]:\)\{5,19\}[0-9A-Fa-f][0-9A-Fa-f]/-/g' \
        -e 's/\([0-9A-Fa-f][0-9A-Fa-f]-\)\{7\}[0-9A-Fa-f][0-9A-Fa-f]/-/g' \
        -e 's/[0-9]\{1,3\}\.[0-9]\{1,3\}\.[0-9]\{1,3\}\.[0-9]\{1,3\}\(\/[0-9]\{1,2\}\)\{0,1\}/-/g' \
        -e 's/[0-9a-f]\{1,4\}:[0-9a-f]\{0,4\}::[0-9a-f:]*/-/g' \
        -e 's/\([Ss]erial[ A-Za-z]*[Nn]umber[^:]*: *\).*/\1-/' \
        -e 's/\([A-Z_]*SERIAL[^:]*: *\).*/\1-/' \
        -e 's/\(Unique ID[^:]*: *\).*/\1-/' \
        -e '/^    Processes/,/^GPU /{/^GPU /!d;}' \
        -e 's/\(Asset Tag: *\).*/\1-/' \
        -e 's/\(UUID *: *\).*/\1-/' \
        -e 's/\(GUID: *\).*/\1-/' \
        -e 's/\(WWN[^:]*: *\).*/\1-/' \
        -e 's/\(EUI-*64[^:]*: *\).*/\1-/' \
        -e 's/\(Device Serial Number \).*/\1-/' |
        without "$host" | without "$user"
}

# without NAME: the text without a name that stands as a word; short ones and root are no names.
without() {
    if [ "${#1}" -gt 2 ] && [ "$1" != root ]; then
        sed -e "s/^$1\\([^A-Za-z0-9]\\)/-\\1/" -e "s/\\([^A-Za-z0-9]\\)$1\\([^A-Za-z0-9]\\)/\\1-\\2/g" \
            -e "s/\\([^A-Za-z0-9]\\)$1\$/\\1-/"
    else
        cat
    fi
}

# keep NAME COMMAND...: the command's output, if the command is there and says something.
keep() {
    name=$1
    shift
    command -v "$1" >/dev/null 2>&1 || return 0
    "$@" 2>/dev/null </dev/null | clean >"$out/$name.part"
    if [ -s "$out/$name.part" ]; then
        mv "$out/$name.part" "$out/$name"
        echo "  $name"
    else
        rm -f "$out/$name.part"
    fi
}

# need NAME WHAT: notes in the folder what root would add.
need() {
    [ "$root" = yes ] && return 0
    echo "# needs root: $2" >>"$out/missing.txt"
}

echo "Collecting into $out"
rm -f "$out/missing.txt"
{
    echo "# collected $(date +%Y-%m-%d)"
    if command -v nvidia-smi >/dev/null 2>&1; then
        busy=$(nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>/dev/null |
            sort -n | head -n 1)
        case $busy in
            '' | *[!0-9]*) ;;
            *) [ "$busy" -ge 50 ] && echo "# under load" ;;
        esac
    fi
    cat /proc/version 2>/dev/null | cut -d' ' -f1-3
    grep '^PRETTY_NAME=' /etc/os-release 2>/dev/null
} | clean >"$out/system.txt"
echo "  system.txt"

# The kernel's own files of each PCIe link: no root needed.
for device in /sys/bus/pci/devices/*; do
    for file in class vendor device numa_node max_link_speed max_link_width current_link_speed \
        current_link_width; do
        [ -r "$device/$file" ] || continue
        value=$(cat "$device/$file" 2>/dev/null) || continue
        printf '==> %s/%s <==\n%s\n\n' "$device" "$file" "$value"
    done
done >"$out/links.txt" 2>/dev/null
[ -s "$out/links.txt" ] && echo "  links.txt"

# Of the kernel's command line only what settles links and memory.
{
    printf 'BOOT_IMAGE='
    tr ' ' '\n' </proc/cmdline 2>/dev/null |
        grep -E '^((intel_|amd_)?iommu|pci|pcie_[a-z]+|nvidia[a-z_.-]*|hugepages[a-z]*|default_hugepagesz)=' |
        tr '\n' ' ' | sed 's/^/ /'
    echo
} >"$out/cmdline.txt"
echo "  cmdline.txt"
keep meminfo.txt cat /proc/meminfo
keep lspci.txt lspci -D -vvv -nn
need lspci.txt "lspci shows no links, slots and errors"
keep nvidia-smi.txt nvidia-smi -q
keep topology.txt nvidia-smi topo -m
keep nvlink.txt nvidia-smi nvlink -s
keep rocm-smi.txt rocm-smi -a
keep rocm-topology.txt rocm-smi --showtopo
keep amd-smi.txt amd-smi static
keep amd-smi-metric.txt amd-smi metric
keep xpu-smi.txt xpu-smi discovery
keep lscpu.txt lscpu
keep numactl.txt numactl -H
keep hwloc.xml lstopo-no-graphics --of xml --no-useless-caches
keep lsblk.txt lsblk -d -b -o NAME,SIZE,TYPE,MODEL
# The serial numbers of nvme list stand in a column: it is left empty.
blank_serials() {
    nvme list | awk '
        /^Node/ { low = index($0, " SN"); high = index($0, "Model") }
        low && high && !/^-/ && !/^Node/ {
            printf "%s%*s%s\n", substr($0, 1, low), high - low - 1, "", substr($0, high); next
        }
        { print }'
}
command -v nvme >/dev/null 2>&1 && keep nvme.txt blank_serials
keep ports.txt ip -br link
keep ibstat.txt ibstat
keep sensors.txt sensors
for port in /sys/class/net/*; do
    port=${port##*/}
    [ "$port" = lo ] || keep "ethtool-$port.txt" ethtool "$port"
done
if [ "$root" = yes ]; then
    keep dmidecode.txt dmidecode -t bios -t system -t baseboard -t memory -t slot
    if command -v smartctl >/dev/null 2>&1; then
        for disk in /dev/nvme[0-9]n1 /dev/nvme[0-9][0-9]n1 /dev/sd[a-z]; do
            [ -b "$disk" ] && keep "smartctl-${disk##*/}.txt" smartctl -i -H -A "$disk"
        done
    fi
fi
need dmidecode.txt "dmidecode: board, BIOS, slots, memory modules and their speed"
need smartctl.txt "smartctl: health of drives"
if dmesg >/dev/null 2>&1; then
    dmesg 2>/dev/null | grep -E -i \
        'NVRM: |PCIe Bus Error|fallen off the bus|available PCIe bandwidth|clock throttled|Hardware Error|Machine Check|nvme .*timeout' |
        clean >"$out/dmesg.txt"
    [ -s "$out/dmesg.txt" ] && echo "  dmesg.txt" || rm -f "$out/dmesg.txt"
else
    need dmesg.txt "dmesg: errors of GPUs and links"
fi

[ -f "$out/missing.txt" ] && cat "$out/missing.txt"
echo "Done. Nothing was sent. Look through $out, then: rigplanner accept RIG --from $out"
