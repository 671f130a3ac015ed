"""Two lines for every field, every column and every letter of the matrix: what it is, and what it
changes.

Over 400 lines because it is one text after another, and they are read together."""

FIELD_HINTS: dict[str, tuple[str, str]] = {
    # Start
    "Parts list, one part per line": (
        "A list of parts from a shop, a forum or your notes.",
        "Create rig finds each line in the catalog; what is not found stays here.",
    ),
    # Parts
    "Kind of part": (
        "Which parts the table lists.",
        "The columns, the filters and the question that the first column answers follow it.",
    ),
    "Add, or replace a part of the rig": (
        "What choosing a row does: add the part beside the others, or put it in place of one.",
        "The first column answers for just that.",
    ),
    "Filter parts by words": (
        "Words of the name, the chip or the maker, in any order.",
        "The table keeps the parts that hold all of them.",
    ),
    "Only what fits": (
        "Hides parts that would not work in this rig.",
        "Parts that work with a warning stay; unknown ones are hidden.",
    ),
    "Favourites": (
        "Hides all parts but those with a star.",
        "The star stands beside the name of the part below the table.",
    ),
    # Build list
    "Quantity": (
        "How many pieces of this part the rig has.",
        "Price, power, slots and all checks count each piece.",
    ),
    "Price each": (
        "What you pay for one piece; at zero the newest price of the catalog counts.",
        "It changes the total, the budget and the quote.",
    ),
    "Power limit in watts": (
        "The power limit that is set in the driver; none means the card's own.",
        "Less power and heat; the speed falls less than the power does.",
    ),
    "Network for a microcontroller": (
        "A network of MLPerf Tiny in int8, by name or short name such as kws.",
        "Its weights need flash, its activations SRAM.",
    ),
    "Microcontroller board": (
        "The board that runs the network, by name, chip or short name.",
        "Its flash and SRAM decide; boards that hold the network are in the list below.",
    ),
    "Figures of your own network": (
        "Counts the two figures beside it in place of a network of the list.",
        "They are those of your converted network; the runtime is added.",
    ),
    "Flash of your network in KB": (
        "Weights in int8: the size of the converted file.",
        "With the runtime they have to fit the board's flash.",
    ),
    "SRAM of your network in KB": (
        "Arena that the converted network needs for its activations.",
        "With the sketch's own variables it has to fit the board's SRAM.",
    ),
    "Words that name cloud instances": (
        "Words of the provider, the machine or its GPU, in any order.",
        "Free, spot and monthly find those that cost nothing, may be taken back, or go by months.",
    ),
    "Rig's speed over the cloud instance's": (
        "How many hours of the cloud instance the rig does in one.",
        "Hours of work until buying is cheaper fall by as much.",
    ),
    "What the card is for": (
        "Jobs, the monitors, or both; a card for the monitors joins no job.",
        "It takes the slot that costs the others least; monitors take memory of their card.",
    ),
    "Number of monitors": (
        "How many are connected to this machine.",
        "Their pictures take memory of the card that drives them.",
    ),
    "Resolution of the monitors": (
        "Pixels of each monitor.",
        "Three pictures of each lie in the card's memory, four bytes a pixel.",
    ),
    "Desktop on the monitors": (
        "What runs on them beside the jobs: text alone, a bare desktop, browsers.",
        "Windows and browsers hold memory of the card for as long as they are open.",
    ),
    "Games on the monitors": (
        "Games run while jobs do.",
        "They take gigabytes of the card's memory, more at higher resolution.",
    ),
    # Findings
    "Reason for accepting it": (
        "Why this finding is accepted.",
        "It is printed with the finding, so that a reader can judge it.",
    ),
    "Accepted by": (
        "Who accepts the finding.",
        "It is printed with the reason, and proposed the next time.",
    ),
    "Accepted until": (
        "The last day on which the finding stays accepted; empty for good.",
        "After that day the finding counts again.",
    ),
    # Machine
    "Part to move": (
        "A card, drive or bridge of the rig.",
        "Choose where it goes beside; the checks follow at once.",
    ),
    "Destination": (
        "The slot or port for the chosen part; automatic lets the program choose.",
        "Lanes, links and cooling are checked for that place.",
    ),
    "What the colour of the links says": (
        "Colours by verdict show what is too slow, by width how many lanes a link has.",
        "Only the picture changes.",
    ),
    # Map
    "Work": (
        "The job by which cards are compared.",
        "Speed, memory and evidence of every row follow it.",
    ),
    "Another model": (
        "A network by its name, in place of the works that are offered.",
        "The cards are compared for it.",
    ),
    "Number of GPUs": (
        "How many cards of one kind work together.",
        "More hold larger models; links between them count then.",
    ),
    "Kinds": (
        "Which kinds of card are shown.",
        "Others leave the table and the picture.",
    ),
    "Prices": (
        "Which prices count: new, used, or any.",
        "Price, speed per money and years follow them.",
    ),
    "Machine": (
        "The machine that is asked: this rig, or GPUs by name as 2x RTX 3090.",
        "Formats, places and speeds of every model follow it.",
    ),
    "Order": (
        "What comes first within a purpose: large models that run well, or new ones.",
        "Only the order changes.",
    ),
    "Sorted by": ("What the rows are sorted by.", "Only the order changes."),
    "Names": (
        "Words of the cards' names, in any order.",
        "Cards that do not hold them all leave the table.",
    ),
    # Compare
    "Only differences": (
        "Hides rows in which all rigs are equal.",
        "What was chosen comes first, then what it brings.",
    ),
    "Baseline": (
        "The rig to which the others are compared.",
        "Differences in green and red, and the sentence above, refer to it.",
    ),
    "Workload of the charts": (
        "The job whose speed the bars show.",
        "Every rig is predicted for it, planned there or not.",
    ),
    # Workloads
    "Model to add as a workload": (
        "A network by its name, or words of it: llama 8b, sdxl, resnet.",
        "A job with usual settings is added; all of them can be changed.",
    ),
    "Preset": (
        "A set of usual values for the task.",
        "It replaces the values of the fields below; undo brings yours back.",
    ),
    "Task": (
        "What the job does: train, fine-tune or answer.",
        "Memory, speed and the fields that count follow it.",
    ),
    "GPUs": (
        "How many GPUs work on this job.",
        "More hold larger models; speed grows until the links limit it.",
    ),
    "Batch per GPU": (
        "Samples that each GPU works on at once.",
        "More need more memory, and use the GPU better up to a point.",
    ),
    "Tokens": (
        "Length of a training text in tokens.",
        "Activations grow with it, attention faster than the rest.",
    ),
    "Prompt": (
        "Tokens that are read before the answer begins.",
        "Longer prompts need more cache and more time to the first token.",
    ),
    "Output": (
        "Tokens of one answer.",
        "Longer answers need more cache; each token is read and written once more.",
    ),
    "Users": (
        "Answers that are written at the same time.",
        "More give more tokens a second together and fewer to each; the cache grows.",
    ),
    "Name": ("What this is called in lists and on the quote.", "It changes no figure."),
    "Attention": ("", "Flash needs the least memory; old GPUs have only eager or SDPA."),
    "Cache": ("", "Frees GPU memory, and every token waits for the PCIe link."),
    "Checkpointing": ("", "Set it when the activations do not fit."),
    "Decoded by": ("", "On the GPU it relieves the CPU and takes some of the GPU's time."),
    "Drafts": ("", "Faster answers for few users, where the drafts are mostly right."),
    "Engine": (
        "",
        "Beside the trainer it shares memory; on its own GPUs it leaves fewer to train.",
    ),
    "Experts": ("", "Large mixtures run on small GPUs; speed then follows the RAM."),
    "Format": ("", "Many small files are slow on hard disks and over networks."),
    "KV cache": ("", "8 bits halve the cache: twice the users or twice the length."),
    "Offload": ("", "Larger models fit; each step waits for RAM or drives."),
    "Optimizer": ("", "AdamW keeps two values per weight; 8-bit ones a quarter of that."),
    "Partition": ("", "Memory and speed are those of the partition; partitions do not join."),
    "Precision": ("", "Fewer bits need less memory and bandwidth; below 4 the answers suffer."),
    "Prompts like": ("", "It sets prompt and output to the means of that set."),
    "Quantised by": ("", "Some kernels run on some GPUs only; the check tells which."),
    "Software": ("", "Each has its own memory overhead, speed and range of GPUs."),
    "Layout": (
        "",
        "Matrix units read channels last faster; other jobs do not hear it.",
    ),
    "Copies wait": (
        "",
        "Copies that wait less train more images a second on older gradients: it may not converge.",
    ),
    "Steps ahead": ("", "The larger, the less copies wait and the older their gradients."),
    "Matrix": ("", "Time grows with the third power, memory with the second."),
    "Number formats and generations": (
        "Two tables: number formats, and the generations of NVIDIA's GPUs.",
        "Rates and formats are those of the rig's first GPU.",
    ),
    "Formats": (
        "Number formats by bits, range and step, and what the rig's GPU does with each.",
        "A format without units of its own saves memory at best, not time.",
    ),
    "Generations": (
        "NVIDIA's generations of GPUs, from the cards of the catalog.",
        "Formats, drivers and CUDA decide which software still runs.",
    ),
    "Split": (
        "",
        "By rows the GPUs share each layer and the link counts; by layers it hardly does.",
    ),
    "Storage": ("", "It must read as fast as the GPUs train, or they wait."),
    "Texts": ("", "Unequal texts reserve more memory than equal ones of the same mean."),
    "Each user at least": ("", "Fewer users get more tokens a second each."),
    "Epochs": ("", "The time of the whole training grows with it; memory does not."),
    "First token within": ("", "A tight limit allows fewer users at a time."),
    "Requests": ("", "The queue grows where they come faster than they are answered."),
    "Samples": ("", "It sets the length of an epoch and of the whole training."),
    "Share of the GPU": ("", "More leaves more room for the cache, and less for other programs."),
    "Size of the weights": ("", "Memory follows this size instead of the predicted one."),
    "Size": ("", "Above the RAM the drives are read in every epoch."),
    "Training tokens": ("", "Time, energy and cost of the whole training follow it."),
    "Weights in RAM": ("", "Larger models fit; each step reads them over the PCIe link."),
    "LoRA targets": ("", "More layers learn more and need more memory."),
    "Accumulation": ("", "A larger effective batch without more memory; fewer updates a second."),
    "Answers a prompt": ("", "More answers make the step longer and the cache larger."),
    "Drafted tokens": ("", "More help only while the drafts are right."),
    "Drafts kept": ("", "The more are kept, the more tokens a step yields."),
    "Tensors in RAM": ("", "They leave GPU memory free, and are read at the pace of the RAM."),
    "Prompt piece": ("", "Larger ones read prompts faster and need more GPU memory."),
    "Beams": ("", "Each has a cache of its own and is written as one more stream."),
    "Guidance": ("", "Two passes take twice the time of one."),
    "Release": ("", "Empty: the software as it is today."),
    "Frames": ("", "Memory and time grow with it."),
    "Height": ("", "Memory and time follow the number of pixels."),
    "Image": ("", "Memory and time follow the number of pixels."),
    "Images": ("", "Each picture adds its tokens to the prompt."),
    "Layers on GPU": ("", "More on the GPU is faster, until its memory is full."),
    "LoRA rank": ("", "A higher rank learns more and needs a little more memory."),
    "MoE layers in RAM": ("", "More frees GPU memory; speed then follows the RAM."),
    "Pipeline": ("", "Each GPU holds fewer layers; some wait while others work."),
    "Shared prefix": ("", "A long one saves cache and time for every user."),
    "Steps": ("", "The time grows with it; memory does not."),
    "Tensor parallel": ("", "Less memory on each; every layer crosses the links between them."),
    "ZeRO stage": ("", "Higher stages need less memory per GPU and more exchange."),
    # Quote
    "Rig name": ("What the rig is called.", "It heads the quote, the window and the file's name."),
    "Currency": (
        "The currency of all sums, as three letters: USD, EUR, CZK.",
        "Prices in other currencies are counted by the rates of the rig.",
    ),
    "Budget": (
        "What you want to spend at most.",
        "The price gauge shows how far the total is from it.",
    ),
    "Market of the day": (
        "A day of the past, as 2017-04-09; empty for today.",
        "Only what was out then is shown, at prices known by then.",
    ),
    "Wall power": (
        "Volts of the outlet: 120 in North America, 230 in Europe.",
        "With the breaker it limits what the rig may draw.",
    ),
    "Breaker": (
        "Amperes at which the circuit trips.",
        "80 % of it may be drawn for hours; the check warns above.",
    ),
    "Circuits": (
        "How many such circuits feed the power supplies.",
        "The load is shared evenly over them.",
    ),
    "Other devices on this circuit": (
        "Watts of what else is on the circuit: screens, lamps, a heater.",
        "It is taken off what the rig may draw.",
    ),
    "Energy": (
        "Price of a kilowatt-hour.",
        "Energy per year and the cost of three years follow it.",
    ),
    "Hours of use": (
        "Hours of full load per day.",
        "Energy, its cost and the comparison with renting follow it.",
    ),
    "Answers per day": (
        "Tokens that the rig answers per day.",
        "The comparison with an API follows it.",
    ),
    "API, million tokens in": (
        "What an API asks for a million tokens of prompts.",
        "The quote says after how many days the rig is cheaper.",
    ),
    "API, million tokens out": (
        "What an API asks for a million tokens of answers.",
        "The quote says after how many days the rig is cheaper.",
    ),
    "Rent per hour": (
        "What renting such a machine would cost by the hour.",
        "The quote says after how many hours the rig is cheaper.",
    ),
    "Rent per month": (
        "What renting such a machine would cost by the month.",
        "The quote says after how many months the rig is cheaper.",
    ),
    "Resale": (
        "What the rig brings after three years, of its price.",
        "The cost of three years is that much less.",
    ),
    "Discount": (
        "Per cent off the sum of the parts.",
        "The total follows; tax is counted after it.",
    ),
    "Tax": ("Per cent of tax on all parts without a rate of their own.", "The total follows."),
    "Tax of this part": (
        "Per cent of tax on the part above.",
        "It counts instead of the general tax.",
    ),
    "Part with a tax of its own": (
        "The part that the fields below speak of.",
        "Choose it, then enter its tax, numbers, warranty and cost below.",
    ),
    "Form of the quote": (
        "Whom the paper is for: a customer, yourself, or the seller alone.",
        "One page without a seller, or cost and margin beside each price.",
    ),
    "Lead time": ("How long until you deliver.", "Printed with the terms, where you fill it in."),
    "Room to sign": (
        "Two lines to sign on, for the customer and for you.",
        "They stand below the terms of a quote for a customer.",
    ),
    "Tax is called": ("The name of the tax: VAT, GST, MwSt.", "The quote calls its line so."),
    "Further taxes": (
        "Taxes on the same sum beside the general one: PST 7; levy 2.5.",
        "Each has its own line, and all are in the total.",
    ),
    "Labour": ("What you ask for building and testing.", "It is taxed and in the total."),
    "Shipping": ("What you ask for sending it.", "It is taxed and in the total."),
    "Deposit": (
        "Per cent of the total that is due with the order.",
        "The quote names it, and what is due on delivery.",
    ),
    "Part number": (
        "The maker's number of this part.",
        "Printed below its name; where the name ends in one it is there already.",
    ),
    "EAN or UPC": (
        "The number below the bar code, 8, 12, 13 or 14 digits.",
        "Printed below the name of the part.",
    ),
    "Condition": (
        "Whether the goods are new, used or refurbished.",
        "Printed below the name; without a choice used prices say so.",
    ),
    "Warranty": ("Months of warranty on this part.", "Printed below the name of the part."),
    "Cost of one": (
        "What one of them costs you, without tax.",
        "Only the internal form shows it; take it out before you pass the file on.",
    ),
    "Prices include tax": (
        "Whether the prices of the parts contain the tax already.",
        "If so the tax is taken out of the sum, not added to it.",
    ),
    "Paper": (
        "Paper of quotes and comparisons.",
        "Tables break by its height; system follows your country.",
    ),
    "Quote number": ("Your number for this quote.", "It heads the quote and names its file."),
    "Date": ("Day of the quote, written 2026-11-20.", "The offer holds from this day on."),
    "Valid": ("Days for which the offer holds.", "The quote prints the last day."),
    "Customer Name": ("Who the quote is for.", "Printed at the head of the quote."),
    "Customer Address": ("Address of the customer.", "Printed at the head of the quote."),
    "Customer Contact": ("Person who asked for the quote.", "Printed at the head of the quote."),
    "Customer E-mail": ("E-mail of the customer.", "Printed at the head of the quote."),
    "Customer Phone": ("Telephone of the customer.", "Printed at the head of the quote."),
    "Customer Tax id": ("Tax number of the customer.", "Printed at the head of the quote."),
    "Seller Name": (
        "Who makes the quote.",
        "Printed at the head; Settings proposes it for new rigs.",
    ),
    "Seller Address": ("Address of the seller.", "Printed at the head of the quote."),
    "Seller Contact": ("Person who answers questions.", "Printed at the head of the quote."),
    "Seller E-mail": ("E-mail of the seller.", "Printed at the head of the quote."),
    "Seller Phone": ("Telephone of the seller.", "Printed at the head of the quote."),
    "Seller Tax id": ("Tax number of the seller.", "Printed at the head of the quote."),
    "Logo": (
        "A picture file of your logo.",
        "It heads the quote, and its colour is the accent of the page.",
    ),
    "Private notes": ("Notes for yourself.", "They are saved with the rig and not printed."),
    "Remarks": ("Remarks to the customer.", "Printed below the sum of the quote."),
    "Terms": ("Terms of delivery and payment.", "Printed at the end of the quote."),
    # Dialogs
    "Name of the variant": (
        "What this state of the rig is called.",
        "It stays in the rig's file, and Compare shows it beside the open state.",
    ),
    "Say this every time": (
        "Whether closing says each time that unsaved changes are kept.",
        "They are kept either way.",
    ),
    "Licences": (
        "The licences of what RigPlanner is made of.",
        "The text can be selected and copied.",
    ),
    "Quiet: it stands next to my desk": (
        "Leaves out blower and passive cards, open frames, and more than two cards.",
        "There are no noise figures; this goes by how parts are cooled.",
    ),
    "Country (sets the wall outlet)": (
        "Where the rig will stand.",
        "Volts and breaker of a usual outlet there limit the power.",
    ),
    "Purpose": (
        "What the rig is for, or the workloads of the open one.",
        "Its tasks, its usual budget and what else is told follow it.",
    ),
    "Look for": (
        "What the best rig is: the fastest, the cheapest, most work for the money, fewest watts.",
        "Each asks the same rigs another question.",
    ),
    "Used parts too": (
        "Prices of used and refurbished parts count.",
        "Older cards come into question; the answer marks what is used.",
    ),
    "Largest board": (
        "The largest form of board that the case may be for.",
        "Smaller boards have fewer slots: one card, or two.",
    ),
    "Slots for cards to come": (
        "So many more cards like these must find a slot later.",
        "Their supply and circuit are not bought ahead.",
    ),
    "Parts I own": (
        "Parts that are there already, with commas between: “2x RTX 3090, RM1000x”.",
        "They cost nothing, so rigs with them are cheaper; they need not be taken.",
    ),
    "Parts that must be in it": (
        "Parts without which no rig counts, with commas between: “4x RTX 3090”.",
        "Of cards at least so many; all other choices are left out.",
    ),
    "Circuit": (
        "Volts and amperes of the circuit that the rig is on, as 230V16A.",
        "It stands in the place of the usual one of the country.",
    ),
    "Most cards": (
        "The largest number of cards.",
        "Fewer are looked at sooner, and need smaller boards and supplies.",
    ),
    "Least processor cores": (
        "Processors with fewer cores are left out.",
        "Four for each card are asked for in any case.",
    ),
    "Least RAM": (
        "Memory that the computer has at least.",
        "As much as the cards' own is asked for in any case.",
    ),
    "Least drive": (
        "The smallest drive that counts.",
        "Data sets and models must find room on it.",
    ),
    "Oldest price": (
        "Prices that are older than so many days do not count.",
        "Fewer days, fewer parts; old prices are carried to today by the index.",
    ),
    "Resale of parts": (
        "What selling a part of the open rig brings, of its price of today.",
        "It counts for the next step from the open rig.",
    ),
    "Prices of other markets too": (
        "Prices in other money count for every kind of part, converted.",
        "Duty and tax are not in them; the answer marks them.",
    ),
    "Memory may be tight": (
        "Cards count whose memory may just hold the job, or just not.",
        "The answer says where that is so.",
    ),
    "Next step from the open rig": (
        "What is in the open rig may stay, or be sold at half its price of today.",
        "The budget is what comes on top.",
    ),
    "Source": ("Which program or shop the file comes from.", "It decides how the file is read."),
    "Columns of the CSV": (
        "Which column holds what, when the heads do not say it.",
        "Written name=column, separated by commas.",
    ),
    "What was left out, one by one": (
        "Every row that was not taken, with the reason.",
        "Mend the file and read it again.",
    ),
    "Address of the product's page": (
        "The address of one product in a shop.",
        "The page is asked once a day at most, and nothing is kept before Keep.",
    ),
    "Part, by words": (
        "The part of the catalog that the page sells.",
        "Needed only where the page's own name is not found.",
    ),
    "Driver with peer-to-peer enabled for GeForce": (
        "A changed driver that lets GeForce cards exchange directly.",
        "Exchange between cards no longer crosses the host's memory.",
    ),
    "NUMA nodes per socket": (
        "A setting of the firmware of EPYC and Xeon boards.",
        "It decides which GPUs share memory channels, and the letters between them.",
    ),
    "Temperature": (
        "Degrees of the room.",
        "Warm rooms slow cards that stand close to each other.",
    ),
    "BIOS version": (
        "Version of the board's firmware, as its maker writes it.",
        "It decides which CPUs start, and which slots can be split.",
    ),
    "CUDA": (
        "Version of CUDA that will run.",
        "Old GPUs need an old one; new formats need a new one.",
    ),
    "Driver": ("Version of the GPU driver.", "It decides which CUDA versions and which GPUs run."),
    "JAX": ("Version of JAX that will run.", "The checks tell whether it supports these GPUs."),
    "NCCL": (
        "Release of NCCL, as 2.3 or 2.21.5; empty for one of today.",
        "Before 2.4 nodes exchange by rings alone; Machine shows what that takes.",
    ),
    "PyTorch": (
        "Version of PyTorch that will run.",
        "The checks tell whether it supports these GPUs.",
    ),
    "ROCm": ("Version of ROCm that will run.", "The checks tell whether it supports these GPUs."),
    "TensorFlow": (
        "Version of TensorFlow that will run.",
        "The checks tell whether it supports these GPUs.",
    ),
    "Operating system": (
        "System that will run, such as Ubuntu 24.04 or Windows 11.",
        "Some software has no GPU build for it.",
    ),
    "Fade figures that change": (
        "A short fade shows which figures an edit changed.",
        "Only the look changes.",
    ),
    "That file holds prices": (
        "The update address leads to prices, not to parts.",
        "Parts stay as they are; prices are added.",
    ),
    "Colours": ("Light, dark, or as the system.", "Only the look changes."),
    "Country": ("Where new rigs stand.", "It proposes volts and breaker of a usual outlet."),
    "Currency of the own exchange rate": (
        "The currency for which you enter a rate.",
        "Needed for currencies that the bank's table leaves out.",
    ),
    "Language": (
        "Language of the window, of findings and of quotes.",
        "It changes at once; rigs stay as they are.",
    ),
    "Lengths": ("Millimetres or inches.", "Tables, findings and quotes follow it."),
    "Energy price": ("Price of a kilowatt-hour for new rigs.", "Energy per year follows it."),
    "Hours of use per day": (
        "Hours of full load per day, for new rigs.",
        "Energy and its cost follow it.",
    ),
    "Own exchange rate": ("What one unit is worth.", "It counts before the bank's rate."),
    "Address": ("Your address.", "New quotes print it."),
    "Contact": ("Person who answers questions.", "New quotes print it."),
    "E-mail": ("Your e-mail.", "New quotes print it."),
    "Own parts and prices": (
        "Folder of your own parts and prices.",
        "They count beside the shipped ones.",
    ),
    "Phone": ("Your telephone.", "New quotes print it."),
    "Tax number": ("Your tax number.", "New quotes print it."),
    "Update address": (
        "Where newer parts come from.",
        "Nothing is asked before you choose Update.",
    ),
    "Mark prices as old after": (
        "Days after which a price counts as old.",
        "Old prices are amber in lists and named in quotes.",
    ),
}
"""Accessible name of a field to its two lines; where the first is empty the field's own tip stands
there."""

COLUMN_HINTS: dict[str, tuple[str, str]] = {
    "Figure": ("What is told of.", "What is left below zero is what the board lacks."),
    "Microcontroller": (
        "A board that is known.",
        "Those that hold the network come first, the smallest on top.",
    ),
    "Flash": ("Memory of the board that keeps the weights.", "Weights and runtime have to fit it."),
    "SRAM": (
        "Memory of the board that is computed in.",
        "Activations and variables have to fit it.",
    ),
    "Trust": (
        "How near the figure stands to its maker.",
        "A recalled one was not read again: look it up before you buy.",
    ),
    "Source": ("Where the figure was read, and when.", "Own figures and estimates have none."),
    "Verdict": (
        "Whether the board holds the network.",
        "Tight ones hold it unless the arena of your build is larger than listed.",
    ),
    "Provider": (
        "Who rents the machine out.",
        "Prices and limits are those of its pages, with their day.",
    ),
    "An hour": (
        "Newest price of an hour on demand.",
        "The machine stays for as long as it is paid.",
    ),
    "Spot, per hour": (
        "Newest price of an hour where the provider may take the machine back.",
        "What was not saved is lost then, and the next machine has to start.",
    ),
    "Hour of work on spot": (
        "What an hour costs that counts, interruptions and restarts paid too.",
        "Fewer interruptions and checkpoints closer together bring it to the spot price.",
    ),
    "Day": ("Day of the newest price.", "Rents change by the month."),
    "Limits": (
        "What the provider allows: hours of a session and a week, idle end.",
        "Work that is longer has to be saved and begun again.",
    ),
    "Best": (
        "A star marks the model to begin with: fast enough to read along, in four bits or more.",
        "It is the largest of the last year and a half; of experts those in use count, too.",
    ),
    "Size": ("Parameters of the model.", "More need more memory and time a token."),
    "Released": ("Month in which the model appeared.", "Newer ones do more with the same size."),
    "Format": (
        "Largest format of the weights that fits.",
        "Smaller formats need less memory and lose some quality.",
    ),
    "Where": (
        "Where the weights lie: GPU, GPU and RAM, or RAM alone.",
        "What lies in RAM is read at the RAM's rate.",
    ),
    "GPU memory": ("Memory taken on the fullest GPU.", "The rest of the card is left for context."),
    "RAM": ("Memory of the computer that the weights take.", "More RAM opens larger models."),
    "Context": ("Tokens that one conversation can hold.", "More users or tokens need more memory."),
    "Users": ("Conversations that run at once.", "Each needs a cache of its own."),
    "First token": (
        "Time from the question to the first token.",
        "Longer prompts take longer in proportion.",
    ),
    "Fit": (
        "Whether the part would work in this rig, and if not, why.",
        "Amber can be cured by another part or setting, red cannot.",
    ),
    "Name": ("Maker and model.", "A star marks favourites; installed parts say so."),
    "Price": (
        "Newest price of one piece in the rig's currency.",
        "The sign for about marks one that a rate of exchange counts.",
    ),
    "Dated": (
        "New, used or launch price, and the day on which it was seen.",
        "Amber is older than you let prices be.",
    ),
    "VRAM": ("Memory of one card.", "It decides which models fit, and with what batch."),
    "Bandwidth": (
        "How fast the card reads its memory.",
        "Answers of language models are limited by it.",
    ),
    "FP16": (
        "Rate of 16-bit matrix operations without sparsity.",
        "Training and long prompts are limited by it.",
    ),
    "Power": (
        "Watts under full load.",
        "Power supply, circuit and cooling are checked against it.",
    ),
    "Slots": (
        "Width in expansion slots; of cases how many there are.",
        "Thick cards cover the slots beside them.",
    ),
    "Form": ("Shape of the part.", "It decides into which slot, board or case it goes."),
    "Socket": ("Socket of the CPU or board.", "Both must have the same."),
    "Cores": ("Cores of the CPU.", "They decode data and feed the GPUs."),
    "Boost": ("Highest clock of one core.", "Small kernels and data loading follow it."),
    "Lanes": ("PCIe lanes of the CPU.", "A card at full speed takes 16 of them."),
    "PCIe": ("Generation of PCIe.", "Each doubles the rate of a lane."),
    "Chipset": (
        "Chip that serves the slower ports.",
        "It decides which CPUs start and how many ports there are.",
    ),
    "x16 slots": (
        "Slots that a full-size card goes into.",
        "Not all of them need to have 16 lanes.",
    ),
    "M.2": ("Sockets for M.2 drives.", "Some take lanes away from a slot."),
    "Memory slots": ("Slots for memory modules.", "More modules may run slower."),
    "Role": ("What the machine is built for.", "It decides which parts it takes."),
    "Power at most": ("Watts that the machine allows all parts.", "Cards beyond it are refused."),
    "Supply": ("Watts of the built-in power supply.", "All parts together must stay below it."),
    "Capacity": ("What the kit or drive holds.", "Offload and data sets are checked against it."),
    "Kit": ("Modules of the kit and the size of each.", "Each module takes a slot."),
    "Type": ("Kind of the part.", "It must match what the board, case or socket takes."),
    "Module": ("Kind of memory module.", "Boards take one kind only."),
    "Speed": (
        "What the part is made for; of jobs what is predicted.",
        "Memory may run slower than its label.",
    ),
    "Interface": ("How the drive is connected.", "NVMe is several times faster than SATA."),
    "Read": ("Sequential reading.", "Data sets must be read as fast as the GPUs train."),
    "Write": ("Sequential writing.", "Checkpoints and offload follow it."),
    "Output": ("Watts of the power supply.", "The load under training should leave some room."),
    "Standard": (
        "ATX standard of the power supply.",
        "From 3.0 on it survives the short peaks of modern cards.",
    ),
    "Efficiency": ("Efficiency label.", "A better one draws less from the wall."),
    "Boards": ("Sizes of board that fit.", "A larger board does not go in."),
    "GPU length": ("Longest card that fits.", "Fans in front may take some of it."),
    "Cooler height": (
        "Highest CPU cooler that fits.",
        "Higher ones keep the side panel from closing.",
    ),
    "Height": ("Height of the cooler.", "The case limits it."),
    "Radiator": ("Length of the radiator.", "The case needs a place of that length."),
    "Rated": ("Heat that the cooler moves.", "It should exceed what the CPU makes."),
    "Connector": ("NVLink connector of the bridge.", "The cards must have the same."),
    "NVLink": ("Generation of NVLink.", "It must be that of the cards."),
    "Spacing": ("Distance of the two slots.", "The bridge fits one distance only."),
    "GPUs": ("Cards that the bridge joins.", "They must be of one model."),
    "Width": ("PCIe lanes that the riser carries.", "Fewer than the card has slow it."),
    "Length": ("Length of the part.", "Long risers carry fast PCIe badly; long parts need room."),
    "Ports": ("Network ports of the card.", "Each carries the full rate if the slot does."),
    "Rate": ("What the part or stage gives.", "The slowest one limits the rest."),
    "Protocol": ("Ethernet or InfiniBand.", "Switch and cards must speak the same."),
    "Edge": ("Lanes and generation of the card's own edge.", "The slot should offer as much."),
    "Place": ("A slot or port of the board.", "Enter moves a part there."),
    "On": ("Which board or riser the place is on.", "Places of the chipset share one link."),
    "Link": ("Lanes and generation that both sides agree on.", "Less than the card has slows it."),
    "Holds": ("What is in this place.", "Places that are covered or switched off say so."),
    "Workload": ("A job that the rig is planned for.", "Choose a row to change its settings."),
    "Memory": ("What the job needs on the fullest GPU.", "Amber is tight, red does not fit."),
    "Limited by": (
        "What keeps the job from running faster.",
        "A better part there helps; others do not.",
    ),
    "Measured on": ("The machine on which somebody measured.", "Nearer machines weigh more."),
    "Model": ("What was measured.", "Nearer models weigh more."),
    "Value": ("The measured rate, with its unit.", "The prediction follows these values."),
    "Weight": (
        "How much the measurement counts here.",
        "Weights add up to one; a small negative one corrects a neighbour.",
    ),
    "#": ("Place in the order.", "Rows of one number have intervals that overlap."),
    "Cards": ("The kind of card, and how many.", "A click shows the measurements behind the row."),
    "Message": ("Size of what is summed over all GPUs.", "Gradients travel in such pieces."),
    "Time": ("What one all-reduce of this size takes.", "Small ones wait, large ones carry."),
    "Way": (
        "Pattern and protocol that NCCL picks at this size.",
        "Trees wait less between nodes, rings carry as much.",
    ),
    "Rings alone": (
        "What it took before NCCL 2.4, without trees between nodes.",
        "It differs where messages are small and nodes many.",
    ),
    "80 % interval": (
        "Four of five measurements lie in it.",
        "Cards whose intervals overlap are not told apart.",
    ),
    "Price of": ("New or used, and the day of the price.", "Old prices mislead; ask for new ones."),
    "Per 1,000": ("Speed for a thousand of money.", "More is the better buy for this job."),
    "Three years": (
        "Price and energy of three years.",
        "Hours of use and the price of energy change it.",
    ),
    "Pays after": (
        "Hours after which it is cheaper than renting.",
        "Beyond them buying pays.",
    ),
    "Evidence": (
        "On how many measurements the row rests.",
        "Without any it is derived from the card's figures.",
    ),
    "Stage": ("A step of the way from drive to GPU.", "The slowest one limits the training."),
}
"""Head of a column to its two lines."""

LETTER_HINTS: dict[str, tuple[str, str]] = {
    "X": ("X: the same GPU.", "Nothing is sent."),
    "NV": (
        "NV{count}: {count} NVLink connections.",
        "The fastest way: exchange between these GPUs hardly waits.",
    ),
    "XGMI": (
        "XGMI: AMD's links between cards.",
        "A fast way: exchange between these GPUs hardly waits.",
    ),
    "PIX": ("PIX: below one PCIe switch.", "Direct exchange at the rate of the slot."),
    "PXB": (
        "PXB: over several PCIe switches.",
        "Direct exchange; the links between switches are shared.",
    ),
    "PHB": (
        "PHB: over the host bridge of one CPU.",
        "Exchange crosses the CPU; many consumer cards go through its memory.",
    ),
    "NODE": (
        "NODE: over host bridges of one NUMA node.",
        "Slower than PHB: one hop more inside the CPU.",
    ),
    "SYS": (
        "SYS: over the link between CPUs.",
        "The slowest way: tensor parallelism suffers most.",
    ),
    "?": ("Not known: a fact of the board is missing.", "The prediction takes a range for it."),
}
"""Letters of `nvidia-smi topo -m` to their two lines."""
