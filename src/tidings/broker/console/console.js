// The console: one page, no other host. What it shows comes from the same paths that any client uses.

const $ = (id) => document.getElementById(id);
const MOST_EVENTS = 100;
const SAMPLES = [
  ["application/trig", (n) => `@prefix : <http://shop.example/> .

GRAPH :offer-${n} {
  :pc-${n} a :Notebook ; :price ${300 + (n % 7) * 40} ;
    :says "As good as new, with two games from Rio." .
}`],
  ["text/turtle", (n) => `@prefix : <http://shop.example/> .

:phone-${n} a :Phone ; :price ${100 + (n % 5) * 60} ; :says "Cell phone, hardly used." .`],
];
const QUERY = `PREFIX : <http://shop.example/>
SELECT ?what ?price WHERE {
  ?what :price ?price .
  FILTER(?price < 400)
}`;

let token = sessionStorage.getItem("token") ?? "";

async function ask(path, options = {}) {
  const headers = { ...(options.headers ?? {}) };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  let problem = {};
  try { problem = await answer.json(); } catch { /* not every answer has a document */ }
  throw Object.assign(new Error(problem.detail ?? `the server answered ${answer.status}`), { problem, status: answer.status });
}

function told(error) {
  const { hint } = error.problem ?? {};
  return hint ? `${error.message}\n${hint}` : error.message;
}

function item(...parts) {
  const li = document.createElement("li");
  li.append(...parts);
  return li;
}

function span(kind, text) {
  const made = document.createElement("span");
  made.className = kind;
  made.textContent = text;
  return made;
}

function button(kind, text, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}

const clock = (moment) => moment ? new Date(moment).toLocaleTimeString() : "";

// ------------------------------------------------------------------------------------------------------------ the editor

let wrong = null; // {line, column}

function draw() {
  const text = $("query").value;
  const lines = text.split("\n");
  $("numbers").replaceChildren(...lines.flatMap((_, n) => {
    const bad = wrong?.line === n + 1;
    return [span(bad ? "bad" : "", String(n + 1)), "\n"];
  }));
  const marks = $("marks");
  marks.replaceChildren();
  if (wrong?.line && wrong.line <= lines.length) {
    const characters = [...lines[wrong.line - 1]];
    const at = Math.min((wrong.column ?? 1) - 1, characters.length);
    const word = characters.slice(at).join("").match(/^[^\s{}();,]+/)?.[0] ?? characters[at] ?? " ";
    const mark = document.createElement("mark");
    mark.textContent = word;
    marks.append(lines.slice(0, wrong.line - 1).join("\n") + (wrong.line > 1 ? "\n" : ""), characters.slice(0, at).join(""), mark);
  }
  marks.scrollTo($("query").scrollLeft, $("query").scrollTop);
  $("numbers").scrollTop = $("query").scrollTop;
  $("query").toggleAttribute("aria-invalid", Boolean(wrong));
}

function showWrong(error) {
  const { line, column } = error?.problem ?? {};
  wrong = line ? { line, column } : null;
  $("wrong").textContent = error ? (line ? `Line ${line}, column ${column ?? 1}: ${told(error)}` : told(error)) : "";
  draw();
}

$("query").value = QUERY;
$("query").addEventListener("input", () => { wrong = null; $("wrong").textContent = ""; draw(); });
$("query").addEventListener("scroll", draw);

const composed = () => ({ query: $("query").value, dialect: $("dialect").value });

$("try").addEventListener("click", async () => {
  $("tried").textContent = "";
  $("found").replaceChildren();
  try {
    const answer = await ask("/v1/try", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(composed()),
    });
    const { tried, matches } = await answer.json();
    showWrong(null);
    $("tried").textContent = `${matches.length} of the last ${tried} events match.`;
    $("found").replaceChildren(...matches.slice(0, 20).map((match) => item(
      span("id", match.event), button("match", "why", () => explain({ ...composed(), event: match.event })))));
  } catch (error) { showWrong(error); }
});

$("subscribe").addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  try {
    await ask(`/v1/subscriptions/${encodeURIComponent($("name").value)}`, {
      method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(composed()),
    });
    showWrong(null);
    $("tried").textContent = `Subscribed: ${$("name").value}.`;
    await subscriptions();
  } catch (error) { showWrong(error); }
});

async function subscriptions() {
  const { subscriptions } = await (await ask("/v1/subscriptions?limit=100")).json();
  $("subscriptions").replaceChildren(...subscriptions.map((each) => item(
    span("id", each.id), span("when", `version ${each.version}`),
    ...(each.state === "paused" ? [span("paused", `paused: ${each.reason ?? ""}`)] : []),
    button("small", "show", () => { $("query").value = each.query; $("dialect").value = each.dialect; $("name").value = each.id; showWrong(null); }),
    button("small", "end", async () => {
      await ask(`/v1/subscriptions/${encodeURIComponent(each.id)}`, { method: "DELETE" });
      await subscriptions();
    }))));
}

// ------------------------------------------------------------------------------------------------------------ publishing

let samples = Math.floor(Math.random() * 100000);

function sample() {
  const [format, text] = SAMPLES[samples % SAMPLES.length];
  $("format").value = format;
  $("event").value = text(samples);
  samples += 1;
}

$("sample").addEventListener("click", sample);
$("publish").addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  $("unpublished").textContent = "";
  try {
    const answer = await ask("/v1/events", {
      method: "POST", headers: { "content-type": $("format").value }, body: $("event").value,
    });
    const { problems } = await answer.json();
    if (problems) $("unpublished").textContent = problems.map((each) => `Line ${each.line}: ${each.detail}`).join("\n");
    sample();
  } catch (error) {
    const { line } = error.problem ?? {};
    $("unpublished").textContent = line ? `Line ${line}: ${told(error)}` : told(error);
  }
});

// ---------------------------------------------------------------------------------------------------------------- events

function show(event) {
  const matches = event.matches.map((id) => button("match", id, () => explain({ subscription: id, event: event.id })));
  $("events").prepend(item(span("id", event.id), ...matches, span("when", clock(event.published))));
  while ($("events").children.length > MOST_EVENTS) $("events").lastChild.remove();
}

async function explain(asked) {
  const body = JSON.stringify(asked);
  const headers = { "content-type": "application/json" };
  try {
    const [words, picture] = await Promise.all([
      ask("/v1/explain", { method: "POST", headers, body }).then((answer) => answer.json()),
      ask("/v1/explain", { method: "POST", headers: { ...headers, accept: "image/svg+xml" }, body }).then((answer) => answer.blob()),
    ]);
    URL.revokeObjectURL($("picture").src);
    $("picture").src = URL.createObjectURL(picture);
    $("picture").alt = `The graph of ${words.event}, with what matched highlighted`;
    $("words").textContent = words.text;
    $("reason").hidden = false;
    $("reason").scrollIntoView({ behavior: "smooth", block: "nearest" });
    $("why").textContent = words.matches ? "Why it matched" : "Why it did not match";
  } catch (error) { $("state").textContent = told(error); }
}

async function live() {
  const { events } = await (await ask("/v1/events?limit=20")).json();
  $("events").replaceChildren();
  for (const event of events.reverse()) show(event);
  const answer = await ask(`/v1/events?after=${events.at(-1)?.place ?? 0}`, { headers: { accept: "text/event-stream" } });
  $("state").textContent = "connected";
  const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await lines.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) show(JSON.parse(data.slice(6)));
    }
  }
}

async function start() {
  for (let wait = 1000; ; wait = Math.min(2 * wait, 15000)) {
    try {
      await subscriptions();
      await live();
      wait = 1000;
      $("state").textContent = "connecting again…";
    } catch (error) {
      $("state").textContent = error.status === 401 ? "This broker wants a token." : `not connected: ${error.message}`;
      if (error.status === 401) return;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

$("access").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem("token", token);
  start();
});

sample();
draw();
start();
