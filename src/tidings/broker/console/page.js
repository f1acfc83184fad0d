// Small things for building the page. Whatever comes from outside is put in as text, never as HTML.

export const $ = (id) => document.getElementById(id);

export function make(tag, kind, text, ...inside) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  made.append(...inside);
  return made;
}

export function button(kind, text, label, action) {
  const made = make("button", kind, text);
  made.type = "button";
  if (label !== text) made.setAttribute("aria-label", label);
  if (text.includes("…")) made.title = label;
  made.addEventListener("click", action);
  return made;
}

export function option(value, text) {
  const made = make("option", "", text);
  made.value = value;
  return made;
}

export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

// Long names are shown by their beginning and end; the whole is in a title, and read out.
export function short(text, most = 48) {
  const signs = [...text];
  return signs.length > most ? `${signs.slice(0, most - 15).join("")}…${signs.slice(-14).join("")}` : text;
}

// Waiting, unless it is called off.
export const pause = (milliseconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});
