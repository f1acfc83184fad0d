// Why a subscription matches an event, or why not: as a picture of the event's graph, and in words.

import { $, option } from "./page.js";
import { ask, asked, told } from "./api.js";

const EDITOR = "\n"; // no subscription has this for its id
let composed = () => ({});
let known = () => [];
let event = "";
let turn = 0;

// What is in the editor, and the ids of the subscriptions that there are.
export function connect(editor, subscriptions) {
  composed = editor;
  known = subscriptions;
}

export function why(id, subscription) {
  event = id;
  const ids = new Set([...(subscription === undefined ? [] : [subscription]), ...known()]);
  $("why-subscription").replaceChildren(
    ...[...ids].map((each) => option(each, each)), option(EDITOR, "the text in the editor"));
  $("why-subscription").value = subscription ?? EDITOR;
  $("why-event").textContent = id;
  $("source").open = false;
  $("source-text").textContent = "";
  explain();
  if (!$("why").open) $("why").showModal();
  $("why-title").focus();
}

async function explain() {
  const mine = ++turn;
  const wanted = $("why-subscription").value;
  const json = { ...(wanted === EDITOR ? composed() : { subscription: wanted }), event };
  $("why-title").textContent = "Looking for the reason…";
  $("why-wrong").textContent = "";
  $("explained").hidden = true;
  try {
    const [words, picture] = await Promise.all([
      asked("/v1/explain", { json }),
      ask("/v1/explain", { json, headers: { accept: "image/svg+xml" } }).then((answer) => answer.text()),
    ]);
    if (mine === turn) show(words, picture);
  } catch (error) {
    if (mine !== turn) return;
    $("why-title").textContent = "No reason can be given";
    $("why-wrong").textContent = told(error);
  }
}

function show(words, picture) {
  URL.revokeObjectURL($("picture").src);
  $("picture").src = $("save").href = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
  $("picture").alt = `The graph of the event, with what ${words.matches ? "matched" : "comes nearest"} highlighted`;
  $("words").textContent = words.text;
  $("why-title").textContent = words.matches ? "Why it matches" : "Why it does not match";
  $("explained").hidden = false;
}

async function source() {
  if (!$("source").open || $("source-text").textContent) return;
  try {
    const answer = await ask(`/v1/events/${encodeURIComponent(event)}`, { headers: { accept: "application/trig" } });
    $("source-text").textContent = await answer.text();
  } catch (error) { $("source-text").textContent = told(error); }
}

$("why-subscription").addEventListener("change", explain);
$("source").addEventListener("toggle", source);
$("close").addEventListener("click", () => $("why").close());
$("why").addEventListener("click", (clicked) => { if (clicked.target === $("why")) $("why").close(); });
