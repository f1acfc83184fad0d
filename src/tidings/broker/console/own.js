// The caller's own subscriptions: to look at, to stop for a while, to end.

import { $, button, make } from "./page.js";
import { ask, asked, subscriptionPath, told } from "./api.js";

const PAGE = 50;
let rows = [];
let next = null;
let edit = () => {};

export const ids = () => rows.map((each) => each.id);

export function onEdit(action) { edit = action; }

export async function refresh(signal) {
  const want = Math.min(Math.max(rows.length, PAGE), 1000);
  ({ subscriptions: rows, next = null } = await asked(`/v1/subscriptions?limit=${want}`, { signal }));
  draw();
}

function draw() {
  const place = focused();
  $("how-many").textContent = rows.length ? `(${rows.length}${next ? " of more" : ""})` : "";
  $("subscriptions").replaceChildren(...rows.map(row));
  $("more").hidden = next === null;
  if (place) ($("subscriptions").children[place.row]?.querySelectorAll("button")[place.button] ?? $("own")).focus();
}

// Rows are made anew; who is on one of their buttons should stay there.
function focused() {
  const li = document.activeElement?.closest("#subscriptions > li");
  return li && { row: [...$("subscriptions").children].indexOf(li), button: [...li.querySelectorAll("button")].indexOf(document.activeElement) };
}

function row(each) {
  const { id } = each;
  const paused = each.state === "paused";
  const stop = paused
    ? button("small", "Resume", `Resume ${id}`, () => change(id, "is heard again", "POST", "/resume"))
    : button("small", "Pause", `Pause ${id}`, () => change(id, "is paused", "POST", "/pause"));
  return make("li", "", "",
    make("span", "id", id),
    make("span", "note", `${each.dialect}, version ${each.version}`),
    ...(paused ? [make("span", "paused", each.reason ? `paused ${each.reason}` : "paused")] : []),
    make("span", "buttons", "", button("small", "Edit", `Edit ${id}`, () => edit(each)), stop, ending(id)));
}

// It takes two presses: what is ended cannot be had back, and neither can what it has not yet told.
function ending(id) {
  const made = button("small", "End", `End ${id}`, () => {
    if (made.dataset.sure) return change(id, "has ended", "DELETE");
    made.dataset.sure = "yes";
    made.textContent = "Really end";
    made.setAttribute("aria-label", `Really end ${id}`);
  });
  made.addEventListener("blur", () => {
    delete made.dataset.sure;
    made.textContent = "End";
    made.setAttribute("aria-label", `End ${id}`);
  });
  return made;
}

async function change(id, done, method, rest) {
  try {
    await ask(subscriptionPath(id, rest), { method });
    $("changed").textContent = `${id} ${done}.`;
    await refresh();
  } catch (error) { $("changed").textContent = told(error); }
}

$("more").addEventListener("click", async () => {
  try {
    const page = await asked(next);
    rows = [...rows, ...page.subscriptions];
    next = page.next ?? null;
    draw();
  } catch (error) { $("changed").textContent = told(error); }
});
