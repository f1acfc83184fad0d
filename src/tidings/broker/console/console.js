// The console: one page on which a person writes subscriptions, publishes, and sees what comes of it.

import { $, button, make, many, option, pause, short } from "./page.js";
import { asked, subscriptionPath, token } from "./api.js";
import { editor } from "./editor.js";
import { follow, forget } from "./live.js";
import { ids, onEdit, refresh } from "./own.js";
import { EVENTS, SUBSCRIPTIONS } from "./samples.js";
import { connect, why } from "./why.js";

const SHOWN = 10;
const query = editor("query", attempt);
const event = editor("event", () => $("publish").requestSubmit());
const composed = () => ({ query: query.text, dialect: $("dialect").value });

// --------------------------------------------------------------------------------------------------- write a subscription

function write({ name, dialect, text }) {
  $("name").value = name;
  $("dialect").value = dialect;
  query.text = text;
  $("tried").textContent = "";
  $("found").replaceChildren();
}

async function attempt() {
  $("tried").textContent = "Trying…";
  $("found").replaceChildren();
  try {
    const { tried, matches, failed } = await asked("/v1/try", { json: composed() });
    query.clear();
    const rest = matches.length > SHOWN ? ` The newest ${SHOWN}:` : "";
    const said = tried ? `${matches.length} of the last ${many(tried, "event")} ${matches.length === 1 ? "matches" : "match"}.${rest}` : "There are no events yet to try it on.";
    $("tried").textContent = failed.length ? `${said} On ${many(failed.length, "event")} it failed: ${failed[0]}` : said;
    $("found").replaceChildren(...matches.slice(0, SHOWN).map((match) => make("li", "", "",
      make("span", "id", short(match.event)), button("match", "why", `Why ${match.event} matches`, () => why(match.event)))));
  } catch (error) {
    $("tried").textContent = "";
    query.mark(error);
  }
}

async function subscribe(submitted) {
  submitted.preventDefault();
  $("tried").textContent = "";
  $("found").replaceChildren();
  const id = $("name").value;
  try {
    const { version } = await asked(subscriptionPath(id), { method: "PUT", json: composed() });
    query.clear();
    $("tried").textContent = `Subscribed: ${id}, version ${version}, hears of what is published from now on.`;
    await refresh();
  } catch (error) { query.mark(error); }
}

$("query-sample").append(option("", "a sample…"), ...SUBSCRIPTIONS.map((each, n) => option(n, each.about)));
$("query-sample").addEventListener("change", (changed) => {
  if (changed.target.value) write(SUBSCRIPTIONS[changed.target.value]);
});
$("try").addEventListener("click", attempt);
$("subscribe").addEventListener("submit", subscribe);
onEdit((each) => {
  write({ name: each.id, dialect: each.dialect, text: each.query });
  $("query-sample").value = "";
  $("query").focus();
});
connect(composed, ids);

// -------------------------------------------------------------------------------------------------------- publish an event

let number = Math.floor(Math.random() * 100000);
let sample = "";

// The same event again would be no news: each sample has names of its own.
function nextSample() {
  const { format, text } = EVENTS[$("event-sample").value];
  number += 1;
  $("format").value = format;
  event.text = sample = text(number);
}

async function publish(submitted) {
  submitted.preventDefault();
  $("published").textContent = "";
  try {
    const { events, problems } = await asked("/v1/events", {
      method: "POST", headers: { "content-type": $("format").value }, body: event.text,
    });
    event.clear();
    $("published").textContent = events.length === 1 ? `Published: ${events[0].id}` : `Published: ${many(events.length, "event")}.`;
    if (problems) event.mark(Object.assign(new Error(problems[0].detail), { problem: problems[0] }));
    else if (event.text === sample) nextSample();
  } catch (error) { event.mark(error); }
}

$("event-sample").append(...EVENTS.map((each, n) => option(n, each.about)));
$("event-sample").addEventListener("change", nextSample);
$("publish").addEventListener("submit", publish);

// -------------------------------------------------------------------------------------------------------------- connection

let current = new AbortController();

function state(kind, text) {
  $("state").dataset.kind = kind;
  $("state").textContent = text;
}

async function run(signal) {
  for (let wait = 1000; !signal.aborted; wait = Math.min(2 * wait, 16000)) {
    try {
      await refresh(signal);
      await follow(signal, () => { wait = 500; state("good", "connected"); });
      if (!signal.aborted) state("wait", "connecting again…");
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) return locked(error);
      state("bad", `not connected: ${error.message ?? "the connection broke"}; trying again`);
    }
    await pause(wait, signal);
  }
}

function locked(error) {
  const text = error.status === 403 || token.get() ? error.message : "this broker wants a token";
  state("bad", text);
  $("access").open = true;
  $("token").focus();
}

function start() {
  current.abort();
  current = new AbortController();
  state("wait", "connecting…");
  run(current.signal);
}

function use(text) {
  token.set(text);
  $("token").value = "";
  $("forget").hidden = !text;
  $("access").open = false;
  forget();
  start();
}

$("token-form").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  use($("token").value.trim());
});
$("forget").addEventListener("click", () => use(""));
$("forget").hidden = !token.get();
window.addEventListener("online", start);

write(SUBSCRIPTIONS[0]);
nextSample();
start();
