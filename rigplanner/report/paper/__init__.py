"""How is it printed? Sheets, type, colours, flow and tags, as reportlab makes them."""
