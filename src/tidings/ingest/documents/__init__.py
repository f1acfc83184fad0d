"""Documents: what HTML pages, PDF files and images say of themselves becomes one event about the document.

about.py       the document: its bytes, what it is called, what is said of any document; the event
html.py        pages: `convert`, with scripts.py (JSON-LD), microdata.py and rdfa.py
pdf.py         PDF: `convert`; document information and XMP
image.py       JPEG, PNG, TIFF, WebP: `convert`; size and XMP
xmp.py         XMP packets, which are RDF/XML
"""
