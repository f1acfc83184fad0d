// Subscriptions and events to start from: a small shop. Every subscription here matches at least one of the events.

const PREFIX = "PREFIX : <http://shop.example/>\n";

export const SUBSCRIPTIONS = [
  { name: "cheap", about: "A price below 400", dialect: "sparql", text: `${PREFIX}
SELECT ?what ?price WHERE {
  ?offer :sells ?what ; :price ?price .
  FILTER(?price < 400)
}` },
  { name: "as-new", about: "Words in a text", dialect: "sparql", text: `${PREFIX}
SELECT ?what WHERE {
  ?what :says ?text .
  FILTER ftcontains(?text, "good" ftNEAR[0,2] "new")
}` },
  { name: "unsold", about: "Something that is not there", dialect: "sparql", text: `${PREFIX}
SELECT ?what ?seller WHERE {
  ?offer :sells ?what .
  OPTIONAL { ?offer :seller ?seller }
  FILTER NOT EXISTS { ?offer :buyer ?buyer }
}` },
  { name: "alert", about: "A new graph as the answer", dialect: "sparql", text: `${PREFIX}
CONSTRUCT { ?what :costs ?price } WHERE {
  ?offer :sells ?what ; :price ?price .
}` },
  { name: "notebooks", about: "Typed statements around an offer", dialect: "ops", text: `${PREFIX}
(_:H, ?what, (Offer, sells, Notebook))
(_:H, ?price, (Offer, price, xsd:integer), ?price < 400)` },
  { name: "phones", about: "A graph with is-a constraints", dialect: "gtopss", text: `${PREFIX}
(?offer, sells, ?what, {}, {?what <= Phone})
(?offer, price, ?price, {}, {?price < 400})` },
];

export const EVENTS = [
  { about: "A notebook is offered", format: "application/trig", text: (n) => `@prefix : <http://shop.example/> .

GRAPH :offer-${n} {
  _:H a :Offer ; :sells :pc-${n} ; :seller :ann ;
    :price ${240 + (n % 9) * 20} .
  :pc-${n} a :Notebook ; :says "As good as new." .
}` },
  { about: "A phone is offered", format: "text/turtle", text: (n) => `@prefix : <http://shop.example/> .

_:H a :Offer ; :sells :phone-${n} ; :price ${90 + (n % 9) * 20} .
:phone-${n} a :Phone ; :says "Hardly used." .` },
  { about: "A phone is sold, as JSON-LD", format: "application/ld+json", text: (n) => `{
  "@context": { "@vocab": "http://shop.example/" },
  "@id": "http://shop.example/sale-${n}",
  "@type": "Offer",
  "sells": { "@id": "http://shop.example/phone-${n}", "@type": "Phone" },
  "price": ${600 + (n % 9) * 20},
  "buyer": { "@id": "http://shop.example/bob" }
}` },
];
