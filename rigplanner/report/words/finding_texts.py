"""English texts of findings, fixes, facts, units. {a} and {b} are the first two subjects, {all} all
of them, {needed} and {actual} the two values with units; other names are the finding's own values.

Over 400 lines because it is one text after another, and they are read together."""

FINDING_TEXTS: dict[str, dict[str, str]] = {
    "CPU001": {"": "{a} has socket {actual}; the board takes {needed}."},
    "CPU002": {"": "{a} works with chipset {needed}; the board has {actual}."},
    "CPU003": {"": "{actual} of {a} are in the rig, at most {needed} work together."},
    "CPU004": {
        "": "With {actual} where {needed} could stand, these places are dead: {places}.",
        "info": "One of the sockets of {b} stays empty.",
    },
    "CPU005": {"": "{a} and {b} are different models: a board takes CPUs of one model."},
    "CPU006": {"": "{a} has {needed}; the board wires {actual}."},
    "CPU007": {
        "": "{a} works from BIOS {needed} on; check the version before the build.",
        "info": (
            "{a} works from BIOS {needed} on, which is older than what shops sell; a used board may"
            " lack it."
        ),
        "error": "{a} needs BIOS {needed}; the rig names {actual}.",
        "younger": (
            "{a} is of {cpu_year}, {b} of {board_year}: a board that lay for long needs a newer"
            " BIOS first."
        ),
    },
    "CPU008": {
        "": "The rig names {setting} NUMA nodes per socket; the firmware for {a} offers {needed}."
    },
    "CPU009": {
        "": "{a} is of the generation {actual}; the maker of {b} lists {needed}.",
        "warning": (
            "{a} is of the generation {actual}; the list of {b}, as it was read, names {needed}."
        ),
    },
    "MEM001": {"": "{a} is {actual}; the board takes {needed}."},
    "MEM002": {"": "{a} is {actual}; the board takes {needed}."},
    "MEM003": {"": "The memory takes {needed}; the board has {actual}."},
    "MEM004": {"": "{needed} are more than the {actual} that board and CPU can address."},
    "MEM005": {"": "Only {actual} of {needed} are filled: host memory is read that much slower."},
    "MEM011": {"": "{a} is labelled {needed} and runs at {actual} here."},
    "MEM006": {
        "": (
            "With {per_channel} modules per channel the CPU guarantees {actual}; the kit is made "
            "for {needed}."
        )
    },
    "MEM007": {
        "": "{a} and {b} differ: mixed kits may run slower or not start.",
        "kind": "{a} is {first}; {b} is {second}: kinds of module do not run together.",
    },
    "MEM010": {"": "{a} has registered modules of {actual}; the CPU takes up to {needed} each."},
    "MEM008": {
        "": "{actual} of host memory are less than the {needed} of the GPUs.",
        "info": (
            "{actual} of host memory are less than the {needed} of all GPUs together, though not"
            " than one of them."
        ),
    },
    "MEM009": {"": "Offload of {a} takes {needed} of host memory; the rig has {actual}."},
    "HST001": {
        "": (
            "{a}: the CPU decodes about {actual} ({low} to {high}); the GPUs take {needed}; "
            "{enough} cores would keep up."
        ),
        "info": (
            "{a}: the CPU decodes about {actual} ({low} to {high}); the GPUs take {needed}: "
            "perhaps too little."
        ),
    },
    "HST002": {"": "{a}: the engine keeps {needed} busy; the CPUs have {actual}."},
    "HST004": {
        "": (
            "{a} spends {share} % of each step on GPU-to-GPU transfers, limited by {b} ({actual})."
            " With {needed} it would be {left} %."
        ),
    },
    "HST003": {
        "": (
            "{a} is bound by launching small kernels, and {b} boosts to {actual}: it may be slower"
            " than predicted."
        )
    },
    "DSK009": {
        "": "{a}: storage gives about {actual} ({low} to {high}); the GPUs take {needed}.",
        "info": (
            "{a}: storage gives about {actual} ({low} to {high}); the GPUs take {needed}: "
            "perhaps too little."
        ),
    },
    "DSK008": {"": "Offload of {a} writes {needed}; the NVMe drives hold {actual}."},
    "SLT001": {"": "No slot is left for {all}."},
    "SLT002": {"": "The board has no slot {place} for {a}."},
    "SLT003": {"": "{place} cannot take {a}: {by} is there."},
    "SLT004": {"": "{place} cannot take {a}: {by} covers it."},
    "SLT005": {"": "{place} is switched off by {by}; {a} does not work there."},
    "SLT006": {
        "": "{place} is too narrow for the edge of {a} ({needed} lanes against {actual}).",
        "nowhere": "No slot is wide enough for the edge of {a} ({needed} lanes against {actual}).",
    },
    "GPU001": {"": "{a} is made for {needed}; the board has {actual}."},
    "GPU002": {
        "": "The rig mixes {actual}: {models}.",
        "makers": (
            "The rig mixes {actual} of several makers ({models}): hardly a program uses them"
            " together."
        ),
    },
    "PCI001": {
        "": "{a} runs at {actual} instead of {needed} because of a drive in {places}.",
        "stays": (
            "{a} runs at {actual} instead of {needed} because of a drive in {places}; no other free"
            " place for the drive leaves it more."
        ),
    },
    "PCI002": {
        "": "{a} in {b} runs at {actual} of {needed}: {by} takes the rest.",
        "cpu": "{a} in {b} runs at {actual} of {needed}: {by} gives this slot no more.",
        "riser": "{a} in {b} runs at {actual} of {needed}: {by} carries no more.",
        "board": "{a} in {b} runs at {actual} of {needed}: the board wires no more.",
    },
    "PCI003": {
        "": "{a} is in {b}, a chipset slot: it shares one link to the CPU with drives and network."
    },
    "PCI004": {
        "": (
            "{a} in {b} runs at PCIe {gen}.0 x{width}, {actual} per direction; it supports"
            " {needed}."
        )
    },
    "PCI005": {
        "": "Set the slot {place} to {needed} in the firmware.",
        "error": "{place} cannot be split as {needed}; it offers {actual}.",
    },
    "PCI006": {
        "": "The board cannot map memory above 4 GB, which {a} needs.",
        "info": "Switch 'Above 4G decoding' on in the firmware: {a} maps its whole memory, and such"
        " boards come with it off.",
    },
    "PCI007": {
        "": "The board has no resizable BAR, which {a} needs for its speed.",
        "cpu": (
            "{a} needs a resizable BAR for its speed; AMD promises it from Ryzen 3000 on, APUs left"
            " out: {b} is older."
        ),
    },
    "PCI008": {"": "{a} in {b} gets {actual}; its ports carry {needed}."},
    "NIC001": {
        "": (
            "The driver offers no GPUDirect RDMA on the rig's cards: what {a} sends is copied"
            " through host memory."
        ),
        "warning": (
            "{gpus} reach a network port only across sockets; {actual} of {needed} have one on"
            " their own."
        ),
    },
    "PCI009": {
        "": "The lanes of {places} depend on a firmware setting: {needed}.",
        "info": "Set the firmware to {needed} for {places}.",
    },
    "PCI010": {
        "": (
            "{a} wants a memory window of {needed}; boards of this socket seldom map more than"
            " {actual}."
        )
    },
    "PCI012": {
        "": "{used} lanes of PCIe {gen}.0 or faster are in use; {a} has {have}: which places "
        "fall back?"
    },
    "PCI011": {
        "": (
            "ROCm leaves {a} out in {b}: PCIe atomics do not pass the chipset. Slots of the CPU"
            " pass them."
        ),
        "partly": (
            "PCIe atomics may not reach {a} in {b}, a chipset slot: device prints and atomics on"
            " host memory then fail."
        ),
        "cpu": "ROCm leaves {a} out: CPUs before PCIe 3.0 do not support PCIe atomics.",
        "cpu-partly": (
            "The CPU does not support PCIe atomics: on {a}, device prints and atomics on host "
            "memory fail."
        ),
    },
    "P2P002": {
        "switch": (
            "Below a switch, Access Control Services send traffic between GPUs up to the CPU:"
            " switch ACS and the IOMMU off in the firmware, or boot with iommu=pt."
        ),
        "": (
            "GPUs that exchange through the CPU hang or crawl while the IOMMU translates their"
            " traffic: switch it and ACS off in the firmware, or boot with iommu=pt."
        ),
        "amd": (
            "On AMD hosts several NVIDIA GPUs may hang or train wrongly while the IOMMU translates"
            " their traffic (page faults of AMD-Vi in the kernel log): switch it off in the"
            " firmware, or boot with iommu=pt."
        ),
    },
    "RIS002": {
        "": (
            "{a} is {actual} long and passive; at PCIe {gen}.0 cables of up to {needed} are known"
            " to run."
        )
    },
    "RIS001": {
        "": (
            "{a} carries PCIe {actual}.0 x{width}, the card and its slot PCIe {needed}.0"
            " x{card_width}."
        )
    },
    "NVL001": {"": "{b} has no NVLink connector for {a}."},
    "NVL002": {"": "{a} has connector {actual}, the card {needed}."},
    "NVL003": {"": "{a} spans {needed}; the cards are {actual} apart."},
    "NVL004": {"": "{a} would join two different models; NVLink joins equal cards only."},
    "NVL005": {"": "{a} finds no pair of cards to join."},
    "NVL006": {
        "": "{a} should work on these cards, but nobody has shown it.",
        "info": "No test of {a} on these cards is known; connector and generation fit.",
    },
    "NVL007": {"": "A full pair takes {needed}; the rig has {actual}."},
    "NVL008": {
        "": "{a}: work over all GPUs crosses {actual} joined only by PCIe.",
        "info": "{a} stays inside the {actual} for its tensor traffic; the rest crosses PCIe.",
    },
    "NVL009": {"": "{a} asks for NVLink; the GPUs have none between them."},
    "NVL010": {
        "": "A bridge of {needed} would join two {card} by NVLink.",
        "unmeasured": (
            "A bridge would join two {card} by NVLink; how far their slots are apart is not known."
        ),
    },
    "P2P001": {"": "{actual} of {needed} pairs of GPUs exchange only through host memory in {a}."},
    "SPC001": {
        "": "{a} is {needed} long; {b} takes {actual}.",
        "radiator": "{a} is {needed} long; {b} takes {actual} beside the radiator.",
        "full-length": (
            "{a} is {needed} long; {b} is rated for full-length cards of {actual}: measure the "
            "room it has."
        ),
    },
    "SPC002": {"": "{a} is {needed} high; {b} takes {actual}."},
    "SPC003": {"": "{a} in {place} needs {needed}; {b} has {actual}."},
    "SPC004": {
        "": "{a} is {needed} deep ({form_factor}); {b} takes {actual}.",
        "along": "{a} is {needed} long along its slots ({form_factor}); {b} takes {actual}.",
        "own": "{a} does not go into {b}, which has a board of its own.",
    },
    "SPC005": {
        "": "{a} is an {actual} unit; {b} takes {needed}.",
        "warning": "{a} is an {actual} unit and needs a bracket in {b}, which takes {needed}.",
    },
    "RIG007": {"": "{fault} It is kept in the file and not used."},
    "SPC006": {"": "{a} is {needed} long; {b} takes {actual}."},
    "SPC010": {
        "": "{a} with the bend of its cable takes {needed}; {b} has {actual}: take an angled "
        "plug, or look whether the side panel closes."
    },
    "SPC007": {"": "{a} is {needed} high; {b} takes {actual}."},
    "SPC008": {"": "{b} has no place for the {needed} radiator of {a}; the largest is {actual}."},
    "CLG001": {
        "": "{a} has no fan, and the airflow of {b} is of class '{actual}'.",
        "warning": "{a} has no fan of its own; a duct with a fan must cool it in {b}.",
    },
    "CLG002": {"": "{a} has only {actual} in front of its fans: {b} is next to it."},
    "CLG006": {
        "": "{b} is {needed} high, below the front fan of {a} are {actual}: clip the fan on"
        " {lift} mm higher, or leave it off.",
        "beyond": "{b} is {needed} high, below the front fan of {a} are {actual}. Moved up by"
        " {lift} mm it is {raised} mm high, and the case takes {room} mm: leave it off, or take"
        " lower modules.",
    },
    "CLG007": {
        "": "{a} reaches {needed} towards the slots, and {b} is in {place}, the first column: "
        "look whether they touch."
    },
    "CLG008": {
        "": "{a} makes {needed} and has no fan: its carrier needs a heat sink with a strong fan, or"
        " a water block."
    },
    "PCI013": {"": "{a} in {b} runs at {actual}: {c} gives no more, slot and card have {needed}."},
    "PWR022": {
        "": "{a} takes 48 V: give its carrier a 48 V supply, or a converter from 12 V where it has"
        " none."
    },
    "CLG003": {
        "": "{a} fits {actual}; the CPU has {needed}.",
        "warning": (
            "{a} is listed for {actual}; on {needed} it fits only where it uses the board's own"
            " back plate."
        ),
        "bracket": (
            "{a} is listed for {actual}, and nobody checked that list: look whether its maker has"
            " a bracket for {needed}, or the CPU's box holds one."
        ),
    },
    "CLG004": {"": "{a} is rated for {actual}; the CPU makes {needed}."},
    "CLG005": {"": "{count} open-air cards leave {needed} in {a}, which moves about {actual}."},
    "PWR002": {
        "": "The rig draws {needed}; {a} gives {actual}.",
        "redundant": (
            "The rig draws {needed}; {a} gives {actual} with one unit in reserve: all units bear "
            "it, without redundancy."
        ),
    },
    "PWR003": {"": "The rig draws {needed}; {a} should not exceed {actual}."},
    "PWR004": {
        "": "Peaks of {needed} exceed the {actual} that {a} tolerates: it may switch off under "
        "load.",
        "borne": (
            "Should all cards peak in one instant, they draw {needed} of the {actual} that {a} is"
            " rated for: less than such supplies switch off at."
        ),
    },
    "PWR005": {
        "": "The rig needs {needed} of type {type}; {a} has none.",
        "spare": (
            "The board has {needed} of type {type} beside the one that it must have; {a} has "
            "none: it may stay empty."
        ),
    },
    "PWR006": {
        "": "The rig needs {needed} of type {type}; {a} has {actual}.",
        "spare": (
            "The rig has {needed} of type {type}; {a} has {actual}: the board starts with one "
            "for each processor."
        ),
    },
    "PWR007": {
        "": "{a} has {actual} of type {type} for {needed}; adapters from 8-pin plugs fill the rest."
    },
    "PWR009": {"": "{b} wants {needed}, one for each socket, instead of {a}."},
    "PWR010": {
        "": "{a} is made by {actual}, the supply by {needed}.",
        "info": "{a} comes from the same maker; check that it is listed for this series.",
    },
    "PWR011": {
        "": "At {volts} V {a} gives {actual} of {needed}.",
        "error": "{a} does not run at {volts} V.",
    },
    "PWR020": {
        "": (
            "{a} draws {needed} through its {inlet} inlet, whose cords are made for {actual}: take"
            " one for {thick} A."
        ),
        "error": (
            "{a} draws {needed} through its {inlet} inlet, whose thickest cords carry {actual}."
        ),
    },
    "PWR012": {
        "": "Wall draw {needed}; the circuit trips above {actual}.",
        "warning": "Wall draw {needed}; the circuit carries {actual} continuously.",
        "several": "Wall draw {needed}; the circuits trip above {actual} together.",
        "several for hours": (
            "Wall draw {needed}; the circuits carry {actual} together for hours."
        ),
    },
    "PWR013": {
        "": (
            "{actual} supplies feed one rig; let them start together and never split one card"
            " between two."
        )
    },
    "PWR016": {"": "The rig draws {needed} from {a}, which gives {actual}."},
    "PWR017": {
        "": "{a} holds the rig for {actual} at full load; an orderly shutdown takes about {needed}."
    },
    "PWR021": {
        "": (
            "On battery {a} gives a stepped wave, at which supplies with active power-factor"
            " correction may switch off."
        )
    },
    "PWR014": {"": "The power limit of {actual} is outside {low_w} to {high_w} W of {a}."},
    "PWR015": {"": "{a} draws {needed}; the system allows {actual} per card."},
    "PWR018": {"": "{b} comes without a supply; {a} needs one of its own there, for {needed}."},
    "PWR019": {"": "{a} may draw {needed}, the supply of {b} gives it {actual}."},
    "M2001": {"": "No port is left for {all}."},
    "M2002": {"": "The board has no port {place} for {a}."},
    "M2003": {"": "{place} cannot take {a}: {by} is in it."},
    "M2004": {"": "{place} is switched off by {by}; {a} does not work there."},
    "M2005": {"": "{place} does not speak the protocol of {a}."},
    "M2006": {"": "{a} is {needed} long; {b} takes {actual}."},
    "M2007": {"": "{a} can read {needed}; {b} passes {actual}."},
    "DSK001": {"": "{actual} of {needed} of {a} work; {by} takes the others."},
    "DSK002": {
        "": "The drives need {needed}; {a} has {actual}.",
        "info": (
            "The drives need {needed}; on an open frame like {a} they lie on a shelf or hang on a"
            " strap."
        ),
        "large": "The 3.5 inch drives need {needed} of their size; {a} has {actual}.",
        "radiator": "The drives need {needed}; {a} has {actual} beside the radiator.",
    },
    "DSK003": {
        "": "The data set of {a} takes {needed}; the drives hold {actual}.",
        "info": (
            "The data set of {a} takes {needed}; the largest volume holds {actual}: it must be "
            "spread over several drives."
        ),
    },
    "DSK004": {
        "": (
            "{a} reads {needed} of single files from a hard disk; {actual} of host memory cannot"
            " hold them."
        )
    },
    "DSK005": {
        "": "The members of the RAID 0 set differ: of {needed} it uses {actual}.",
        "few": "A RAID 0 set needs {needed}; the rig has {actual} in it.",
        "pace": (
            "The members of the RAID 0 set differ: all run at the pace of {actual}, the fastest"
            " could read {needed}."
        ),
    },
    "DSK006": {
        "": "When one of {count} drives fails, all {actual} of the RAID 0 set are lost.",
        "warning": (
            "When one of {count} drives fails, all {actual} are lost, system and checkpoints too."
        ),
    },
    "DSK007": {
        "": "{a} asks for GPUDirect Storage, which does not work here.",
        "card": "{a} asks for GPUDirect Storage, which the driver does not offer on {b}.",
        "drive": "{a} asks for GPUDirect Storage, and no NVMe drive is connected.",
        "system": "{a} asks for GPUDirect Storage, which exists on Linux only.",
        "info": (
            "{a} reads straight into {b}, but through the CPU's root complex: below one PCIe switch"
            " it would be faster."
        ),
    },
    "DSP001": {"": "Nothing in the rig can show a picture, and {a} has no remote management."},
    "GPU003": {
        "": (
            "No job here needs what {a} has more of: {part}, a card for games of its day, has at"
            " least its memory and {times} times its FP32 rate."
        ),
        "priced": (
            "No job here needs what {a} has more of: {part}, a card for games of its day, has at"
            " least its memory and {times} times its FP32 rate; at their first prices it does"
            " {less} times as much for the money."
        ),
    },
    "GPU004": {
        "": (
            "{b} asks for FP64, which {a} does at 1/{share} of FP32: {part}, a card for work of its"
            " day, does {times} times as much. Where FP32 is enough, convert first."
        ),
        "alone": (
            "{b} asks for FP64, which {a} does at 1/{share} of FP32. Where FP32 is enough, convert"
            " first."
        ),
        "ecc": (
            "{b} asks for memory that corrects its errors, which {a} has not; {part}, a card for"
            " work of its day, has it."
        ),
        "ecc-alone": "{b} asks for memory that corrects its errors, which {a} has not.",
    },
    "DSP002": {"": "{needed} are wanted for the monitors; {a} has {actual}."},
    "DSP003": {"": "The monitors of {a} take {needed} of its {actual}."},
    "DSP004": {
        "": (
            "The monitors ({monitors} × {size}) on {a} take {needed} of its memory: pictures,"
            " desktop and games."
        )
    },
    "DSP005": {
        "": (
            "{a} drives the monitors from {b} and takes no lanes of the others: {after} as without."
        ),
        "costs": (
            "{a} drives the monitors from {b} and costs lanes: the others have {after}, without it"
            " {before}."
        ),
    },
    "DSP006": {"": "No card drives the {needed}, and the CPU shows no picture on {a}."},
    "SW001": {"": "{a} has no {needed}: {breaks}."},
    "SW002": {
        "": "PyTorch {release} (CUDA {cuda}) has no kernels for compute capability {needed} of {a}."
    },
    "SW003": {
        "": "CUDA {cuda} supports compute capability {actual}; {a} has {needed}.",
        "younger": (
            "CUDA {cuda} does not support {a} ({needed}) yet; it runs what was built for "
            "{highest}, and not at full speed."
        ),
    },
    "SW004": {
        "": "CUDA {cuda} needs driver {needed}; the rig names {actual}.",
        "ptx": (
            "Driver {actual} runs programs of CUDA {cuda}, but no code that is compiled at run"
            " time: that needs {needed}."
        ),
        "toolkit": (
            "Driver {actual} runs programs of CUDA {cuda}, but no code that is compiled at run"
            " time, and images made from NVIDIA's refuse to start: those need {needed}."
        ),
        "bridged": (
            "CUDA {cuda} needs driver {needed}; the rig names {actual}; CUDA's compatibility "
            "packages may bridge it here."
        ),
    },
    "SW005": {
        "": "PyTorch {actual} with CUDA {cuda} is the last prebuilt release for {a}.",
        "error": "No prebuilt PyTorch supports {a}.",
    },
    "SW006": {
        "": (
            "FlashAttention needs compute capability {needed}; {b} has {actual}: it stops; other "
            "attention runs, with more memory."
        )
    },
    "SW007": {
        "": (
            "bf16 needs compute capability {needed}; {b} has {actual}: it is emulated slowly or "
            "refused."
        )
    },
    "SW008": {"": "FP8 needs compute capability {needed}; {b} has {actual}."},
    "SW009": {
        "": "AMD does not support {target} on {platform}.",
        "first": (
            "ROCm {actual} does not support {a} ({target}) on {platform}: {needed} is the first "
            "release that does."
        ),
        "last": "ROCm {needed} is the last release that supports {a} ({target}) on {platform}.",
        "never": "AMD's ROCm for {platform} does not support {a} ({target}).",
        "stand-in": (
            "AMD's ROCm for {platform} does not support {a} ({target});"
            " HSA_OVERRIDE_GFX_VERSION={needed} makes it run."
        ),
    },
    "SW010": {"": "The image {release} supports compute capability {actual}; {a} has {needed}."},
    "SW011": {
        "": (
            "Fast fp16 needs compute capability {needed}; {b} has {actual}: fp16 saves memory "
            "there, not time."
        ),
        "saves": (
            "Fast fp16 needs compute capability {needed}; {b} has {actual}: fp16 saves "
            "{saved_gib} GiB there, so that a larger batch fits, but no time."
        ),
    },
    "SW012": {
        "": "FP4 needs compute capability {needed}; {b} has {actual}.",
        "recipe": (
            "Recipes for training in FP4 want the instructions of compute capability {needed}; {b}"
            " has {actual} and runs them in part only, without rotation and stochastic rounding."
        ),
    },
    "SW013": {
        "": (
            "{engine} needs compute capability {needed}; {b} has {actual} and is not used."
            " llama.cpp supports older GPUs."
        ),
        "windows": "{a} is to run on vLLM, which has no build for Windows: take Linux or WSL 2.",
    },
    "SW014": {
        "": "Driver {actual} does not serve {a}.",
        "old": "Driver {actual} does not support {a} yet: it needs branch {needed} or newer.",
        "new": "Driver {actual} ignores {a}: branch {needed} is the last that supports it.",
        "open": (
            "The open kernel modules of driver {actual} do not serve {a}: cards before Turing need"
            " {needed}."
        ),
        "proprietary": (
            "The proprietary kernel modules of driver {actual} do not support {a}: from "
            "Blackwell on it needs {needed}."
        ),
    },
    "SW015": {
        "": (
            "{a} needs driver branch {needed} or newer; {b} runs up to branch {actual}: one "
            "computer loads only one driver."
        ),
        "modules": (
            "On Linux {a} runs with the driver's open kernel modules only, {b} with the proprietary"
            " ones only: one computer loads one kind."
        ),
    },
    "SW016": {
        "": (
            "No prebuilt PyTorch has kernels for both {a} (compute capability {needed}) and {b}"
            " ({actual})."
        ),
        "last": (
            "PyTorch {actual} with CUDA {cuda} is the last prebuilt release with kernels for both"
            " {a} and {b}."
        ),
    },
    "SW017": {
        "": "The kernels for {method} weights need compute capability {needed}; {b} has {actual}."
    },
    "SW025": {
        "": (
            "The engine of {a} was built on {built} (compute capability {needed}) and does not run"
            " on {b} ({actual}): build it again there, or with hardware compatibility on Ampere and"
            " newer."
        ),
        "kin": (
            "The engine of {a} was built on {built}: {b} has the same compute capability and runs"
            " it, with kernels that were chosen for the other card."
        ),
        "version": (
            "The engine of {a} was built with TensorRT {needed}; the rig has {actual}: build it "
            "again, or version-compatible for a newer runtime."
        ),
        "several": (
            "The rig has {needed} GPU models: {a} needs an engine built on each, {b} among them."
        ),
    },
    "SW024": {
        "": "{stack} does not run weights in {files} on {b} ({title}).",
        "slow": (
            "{stack} runs weights in {files} on {b} by a fallback, several times slower than an"
            " engine with kernels for them ({title})."
        ),
        "stored": (
            "{stack} stores the weights in {files} on {b} and widens them for each product: they"
            " take less memory, prompts gain nothing ({title})."
        ),
    },
    "SW018": {
        "": "Compiled code (Triton) needs compute capability {needed}; {b} has {actual}.",
        "assembler": (
            "The assembler in PyTorch {actual} does not support {b} ({capability}): {needed} is "
            "the first that does."
        ),
    },
    "SW020": {
        "": "{package} {release} supports compute capability {needed} and newer; {a} has {actual}.",
        "newer": (
            "{package} {release} has no kernels for compute capability {actual} of {a}: it ends at"
            " {needed}."
        ),
    },
    "SW021": {
        "": "{what} runs on GPUs of {needed} only, and {a} is none.",
        "target": "{what} does not support {actual}, the target of {a}: it runs on {needed}.",
    },
    "SW022": {
        "": "{b} has no units for {format}.",
        "networks": (
            "{b} computes in int8 alone. It runs vision networks that were converted for it; it"
            " trains none and holds no language model."
        ),
    },
    "SW019": {
        "": (
            "TensorFlow {actual} has no GPU support on native Windows: 2.10 was the last release"
            " with it."
        ),
        "jax": "JAX has no GPU support on native Windows: take WSL 2 or Linux.",
        "vllm": "vLLM has no build for native Windows: take WSL 2 or Linux.",
        "nccl": (
            "{a} trains on several GPUs, and PyTorch for Windows comes without NCCL: gloo is"
            " slower, WSL 2 or Linux have it."
        ),
        "triton": "{a} compiles code with Triton, which has no official wheel for Windows.",
    },
    "SW023": {
        "": (
            "{what} has no package with GPU support for Arm machines with {a}: NVIDIA's container"
            " has it."
        ),
        "first": (
            "{what} {actual} has no package with GPU support for Arm machines with {a}: {needed} is"
            " the first that has."
        ),
        "index": (
            "The package of {what} {actual} on PyPI supports {a} alone, not the GPU: take that "
            "of PyTorch's own index for CUDA."
        ),
        "jetson": (
            "Packages of {what} for Arm are built for servers, not for JetPack: take one made for"
            " Jetson, or build it."
        ),
    },
    "VRM001": {"": "{a} needs {needed} per GPU ({low_gib} to {high_gib}); {b} has {actual}."},
    "VRM002": {"": "{a} needs about {needed} per GPU ({low_gib} to {high_gib}); {b} has {actual}."},
    "MIG001": {
        "": "{needed} do not go together on {actual} of {a}; no place is left for {left}.",
        "none": "{a} has no partitions.",
        "name": "{a} has no such partition as {actual}.",
    },
    "MIG002": {
        "": "{a} asks for {needed} ranks on partitions of {mig}; a job runs on one.",
        "warning": (
            "{a} asks for {needed} ranks on partitions of {mig}: they exchange through host memory,"
            " as an experiment."
        ),
    },
    "WRK001": {"": "A tensor degree of {needed_alone} does not divide {actual} of {a}."},
    "WRK002": {
        "": "{a} splits tensors over {actual} GPUs; {needed} is the next power of two that fits."
    },
    "WRK003": {"": "{needed_alone} stages do not divide {actual} of {a}."},
    "WRK004": {"": "The degrees of {a} make {needed}; the rig has {actual}."},
    "WRK005": {"": "An expert degree of {needed_alone} does not divide {actual} of {a}."},
    "WRK007": {
        "": "Gradients of {a} are up to {actual} steps old when they change the weights.",
    },
    "WRK006": {
        "": (
            "A tensor degree of {needed_alone} cuts {actual} weights of the MLPs of {a} within"
            " groups of {group} ({method})."
        ),
    },
    "KNO001": {"": "{text}"},
    "RIG001": {"": "{a} is not in the catalog."},
    "RIG002": {"": "Not chosen yet: {kinds}."},
    "NOD001": {"": "{a} has no part of its own of these kinds: {kinds}."},
    "NOD002": {
        "": (
            "{a}: work over all GPUs crosses the network between {nodes} nodes, {actual} each way"
            " per node."
        ),
        "tensor": (
            "{a}: its tensor parallelism is wider than a node and crosses the network, {actual}"
            " each way per node."
        ),
    },
    "RIG004": {
        "": "{a} contains itself: {path}.",
        "switch": "The PCIe switches of {a} are connected in a circle: {path}.",
    },
    "RIG006": {
        "": "{fact}: {actual}, which nobody verified, for the {needed} that are needed. Measure"
        " it before you buy.",
    },
    "RIG005": {
        "": "{word} is no software that any rule knows: it is not judged.",
        "software-near": (
            "{word} is no software that any rule knows: it is not judged. The nearest name is"
            " {near}."
        ),
        "rule": "There is no rule {word}: to ignore, accept or rate it changes nothing.",
        "rule-near": (
            "There is no rule {word}: to ignore, accept or rate it changes nothing. The nearest "
            "code is {near}."
        ),
        "severity": "{word} is no severity, and the rule keeps its own. There are {known}.",
        "severity-near": (
            "{word} is no severity, and the rule keeps its own. The nearest is {near}."
        ),
        "country": (
            "{word} is no country's two letters (ISO 3166): what is wired there is not known."
        ),
        "country-near": (
            "{word} is no country's two letters (ISO 3166): what is wired there is not known. The"
            " nearest are {near}."
        ),
    },
    "RIG003": {"": "Sources disagree on {part}: {disputes}."},
}
"""By code, then by the rule's own severity; "" serves all others, "none" findings without an actual
value."""

FACT_FAULTS = {
    "no-place": "{part} has no place {place}.",
    "not-measured": "{name} of {part} is nothing that somebody measures.",
    "no-field": "{part} has no figure {name}.",
    "no-figure": "{fact}: a figure is expected.",
    "range": "{fact} lies between {least} and {most}; found {found}.",
    "other-sort": "{fact} is of another sort than {found}.",
    "limits-crossed": "{fact}: the lowest limit {low} is above {high}.",
    "no-plug": "{fact}: {found} is no plug; known are {known}.",
    "plug-count": "{fact}: {plug} between 0 and {most} times; found {found}.",
    "column-taken": "{fact}: {place} is in column {column} already.",
}
"""Why a part cannot have a figure of its owner, by the code of the fault."""
FIX_TEXTS = {
    "other-cpu": "Take {part}",
    "fewer-cpus": "Take {count} CPU",
    "second-cpu": "Add a second {part}",
    "same-cpu": "Take {part} for both",
    "own-numa": "Leave the CPU its own NUMA nodes",
    "other-memory": "Take {part}",
    "fewer-modules": "Take {count} modules",
    "fill-channels": "Fill all channels with {count} modules",
    "one-per-channel": "Take one module per channel ({gib} GiB)",
    "same-memory": "Take {part} throughout",
    "let-solver-place": "Place {piece} automatically",
    "remove": "Remove {piece}",
    "fewer-pieces": "Take {count} of them",
    "on-risers": "Use risers: {count} × {part}",
    "free-lanes": "Let the drive in {places} find another place",
    "move-drive": "Move {piece} to {places}",
    "move-card": "Move {piece} to {place}",
    "move-for-lanes": "Move {piece} to {place}: {gainer} gets {after} instead of {before}",
    "move-at-a-cost": (
        "Move {piece} to {place}: {gainer} gets {after} instead of {before}, {loser} falls to"
        " {lost_after}"
    ),
    "set-firmware": "Set the firmware to {choice}",
    "other-riser": "Take {part}",
    "other-case": "Take {part}",
    "other-card": "Take {part}",
    "other-cooler": "Take {part}",
    "cap-power": (
        "Limit each GPU to {watts} W (keeps about {kept} % of the speed of matrix work, "
        "{kept_low} to {kept_high} %)"
    ),
    "cap-power-only": "Limit each GPU to {watts} W",
    "larger-supply": "Take {part}",
    "add-supply": "Add {part} for {piece}",
    "decode-on-gpu": "Decode on the GPUs (NVIDIA DALI)",
    "higher-voltage": "Use {volts} V power",
    "more-circuits": "Spread the power supplies over {circuits} circuits of this kind",
    "other-circuit": "Use a circuit of {volts} V and {amperes} A",
    "usual-circuit": "Take the usual outlet of {country}: {volts} V, {amperes} A",
    "other-bridge": "Take {part}",
    "same-card": "Take {part} for both",
    "more-bridges": "Take {count} bridges",
    "add-bridge": "Add {count} × {part}",
    "other-version": "Use {versions}",
    "pass-through": "Boot with iommu=pt",
    "other-attention": "Use {attention} attention",
    "other-precision": "Use {precision}",
    "without-compile": "Run the job without torch.compile",
    "larger-gpu": "Take {part}",
    "monitors-on-cpu": "Put the monitors on the CPU's graphics",
    "checkpointing": "Recompute activations (gradient checkpointing)",
    "change-job": "Change the job: {changes}",
    "smaller-batch": "Use a batch of {batch} per GPU",
    "larger-ups": "Take {part}",
    "stripe": "Stripe {count} {drive} as RAID 0",
    "pack": "Pack the data set into records: the drives read it {times} times as fast",
    "unstripe": "Use the drives one by one",
    "other-degrees": "Change the degrees of parallelism",
    "other-word": "Write {word}",
    "forget": "Take {word} out of the settings",
    "forget-fact": "Forget this figure",
    "one-partition": "Run the job on one partition",
}
