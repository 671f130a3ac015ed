"""Printing of the quote: the pages of the very bytes that are saved, drawn on the printer."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, Qt
from PySide6.QtGui import QPageLayout, QPageSize, QPainter
from PySide6.QtPdf import QPdfDocument
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QDialog

from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.exports import quote_bytes
from rigplanner.report.language import tr

DOTS_PER_INCH = 300
POINTS_PER_INCH = 72


def print_pdf(content: bytes, printer: QPrinter) -> int:
    """Draw every page of a PDF on the printer's pages of the same size and return how many; 0 when
    it cannot be read or printed."""
    held = QByteArray(content)
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    document = QPdfDocument()
    document.load(buffer)
    pages = document.pageCount()
    if not pages:
        return 0
    size = document.pagePointSize(0)
    printer.setPageSize(QPageSize(size, QPageSize.Unit.Point))
    printer.setFullPage(True)
    printer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    painter = QPainter()
    if not painter.begin(printer):
        return 0
    for page in range(pages):
        if page:
            printer.newPage()
        points = document.pagePointSize(page)
        scale = DOTS_PER_INCH / POINTS_PER_INCH
        image = document.render(
            page, QSize(round(points.width() * scale), round(points.height() * scale))
        )
        painter.drawImage(QRectF(painter.viewport()), image)
    painter.end()
    document.close()
    return pages


def print_quote(desk: Desk) -> QPrintDialog | None:
    """Ask for a printer and print the quote on it."""
    session = desk.session
    content = quote_bytes(session)
    if content is None:
        return None
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(session.rig.name[:100])
    dialog = QPrintDialog(printer, desk.window())
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def accepted() -> None:
        pages = print_pdf(content, printer)
        if pages:
            session.tell(
                tr(
                    "Sent {pages} pages to {printer}.",
                    pages=pages,
                    printer=printer.printerName() or printer.outputFileName(),
                )
            )
        else:
            session.tell(
                tr("Printing failed."),
                "error",
                tr("Try again"),
                lambda: print_quote(desk),
            )

    dialog.accepted.connect(accepted)
    QDialog.open(dialog)
    return dialog
