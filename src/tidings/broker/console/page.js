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
  made.addEventListener("click", action);
  return made;
}

export function option(value, text) {
  const made = make("option", "", text);
  made.value = value;
  return made;
}

export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

// Waiting, unless it is called off.
export const pause = (milliseconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});
