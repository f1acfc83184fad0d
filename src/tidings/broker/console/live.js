// Events as they come, each with the caller's own matches.

import { $, button, make, many, short } from "./page.js";
import { asked, stream } from "./api.js";
import { why } from "./why.js";

const MOST = 100;
const kept = { all: [], matched: [] }; // the newest last
const seen = { events: 0, matches: 0 };
let last = 0; // the place of the newest event
let waiting = []; // what is not on the page yet
let drawing = false;
let counting = false;

const chosen = () => $("only").checked ? kept.matched : kept.all;
const held = () => $("hold").getAttribute("aria-pressed") === "true";

function row(event) {
  const time = make("time", "when", new Date(event.published).toLocaleTimeString());
  time.dateTime = time.title = event.published;
  const matches = event.matches.map((id) => button("match", short(id, 40), `Why ${id} matches`, () => why(event.id, id)));
  const li = make("li", "", "", time, button("id link", short(event.id), `Look at ${event.id}`, () => why(event.id)), ...matches);
  if (event.fresh) li.classList.add("fresh");
  return li;
}

function redraw() {
  waiting = [];
  $("events").replaceChildren(...chosen().toReversed().map(row));
  count();
}

// Many may come at once: the page is changed ten times a second at most, and never holds more than it shows. How many
// there were is read out to who cannot see it, so it is said less often.
function soon() {
  if (!drawing) setTimeout(put, 100);
  if (!counting) setTimeout(count, 1000);
  drawing = counting = true;
}

function put() {
  drawing = false;
  if (held()) return;
  $("events").prepend(...waiting.slice(-MOST).reverse().map(row));
  waiting = [];
  while ($("events").children.length > MOST) $("events").lastChild.remove();
}

function count() {
  counting = false;
  const since = `${many(seen.events, "event")} and ${many(seen.matches, "match", "matches")} since this page was opened`;
  const text = `${since}.${held() && waiting.length ? ` ${many(waiting.length, "newer one")} held back.` : ""}`;
  if ($("counts").textContent !== text) $("counts").textContent = text;
}

function take(event, fresh) {
  last = event.place;
  event.fresh = fresh;
  for (const list of event.matches.length ? [kept.all, kept.matched] : [kept.all]) {
    list.push(event);
    if (list.length > MOST) list.shift();
  }
  if (fresh) {
    seen.events += 1;
    seen.matches += event.matches.length;
  }
  if (event.matches.length || !$("only").checked) {
    waiting.push(event);
    if (waiting.length > MOST) waiting.shift();
  }
  soon();
}

// The newest events, and then those that come, until the connection ends.
export async function follow(signal, begun) {
  const { events } = await asked(`/v1/events?limit=${MOST}`, { signal });
  const first = last === 0;
  if ((events[0]?.place ?? 0) < last) forget(); // another log than before
  for (const event of events.toReversed()) if (event.place > last) take(event, !first);
  await stream(`/v1/events?after=${last}`, signal, begun, (event) => take(event, true));
}

export function forget() {
  last = 0;
  kept.all = [];
  kept.matched = [];
  redraw();
}

$("only").addEventListener("change", redraw);
$("hold").addEventListener("click", () => {
  $("hold").setAttribute("aria-pressed", String(!held()));
  $("hold").textContent = held() ? "Go on" : "Hold";
  put();
  count();
});
count();
