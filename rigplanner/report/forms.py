"""The forms in which things leave the house: what each is called, and how its files end.

Which forms there are is said once, by the table of writers beside each thing that is written
(`report.quote.export.FORMATS`, `report.comparison.writers.FORMATS`,
`report.machine_files.WRITERS`): command line and window both read it. A new form needs no word
here; it is then shown by its own name."""

from rigplanner.report.language import Words

WORKBOOK = "xlsx"
PDF = "pdf"
_TITLES = Words(
    {
        "pdf": "PDF",
        "xlsx": "Excel workbook",
        "markdown": "Markdown",
        "bbcode": "BBCode",
        "csv": "CSV",
        "plain": "Plain text",
        "text": "Plain text",
        "html": "Web page",
        "table": "Plain text",
        "json": "JSON",
        "share": "One line to share",
        "svg": "Topology (SVG)",
        "slots": "Slots and cards (SVG)",
        "nccl": "Topology for NCCL (XML)",
        "dot": "Graphviz",
        "graphml": "Graph (GraphML)",
        "node-link": "Graph (node-link JSON)",
        "matrix": "Matrix of nvidia-smi topo -m",
    }
)
_SUFFIXES = {
    "markdown": "md",
    "bbcode": "txt",
    "plain": "txt",
    "text": "txt",
    "share": "txt",
    "table": "txt",
    "slots": "svg",
    "nccl": "xml",
    "node-link": "json",
    "matrix": "txt",
}


def form_title(form: str) -> str:
    """Return what a form is called: by its own name where it has no words."""
    return _TITLES.get(form, form)


def form_suffix(form: str) -> str:
    """Return how the files of a form end, without the dot."""
    return _SUFFIXES.get(form, form)
