// Requests to the broker: the same paths that any client uses, and no other host.

const SILENCE = 45000; // milliseconds; the server says something every fifteen seconds

export const token = {
  get: () => sessionStorage.getItem("token") ?? "",
  set: (text) => text ? sessionStorage.setItem("token", text) : sessionStorage.removeItem("token"),
};

export async function ask(path, { json, headers = {}, ...options } = {}) {
  const sent = { ...headers };
  if (token.get()) sent.authorization = `Bearer ${token.get()}`;
  if (json !== undefined) {
    sent["content-type"] = "application/json";
    options = { method: "POST", ...options, body: JSON.stringify(json) };
  }
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: sent });
  } catch (error) {
    throw new Error(error.name === "AbortError" ? "stopped" : "the server does not answer");
  }
  if (answer.ok) return answer;
  let problem = {};
  try { problem = await answer.json(); } catch { /* not every answer has a document */ }
  throw Object.assign(new Error(problem.detail ?? `the server answered ${answer.status}`), { problem, status: answer.status });
}

export const asked = async (...what) => (await ask(...what)).json();

export const subscriptionPath = (id, rest = "") => `/v1/subscriptions/${encodeURIComponent(id)}${rest}`;

// What is wrong, in words: where, what, and what to do.
export function told(error) {
  const { line, column, hint } = error.problem ?? {};
  const place = line ? `Line ${line}, column ${column ?? 1}: ` : "";
  return place + error.message + (hint ? `\n${hint}` : "");
}

// Server-sent events, each given to `take`; returns when the stream ends. EventSource cannot send a token.
export async function stream(path, signal, begun, take) {
  const quiet = new AbortController();
  const answer = await ask(path, { headers: { accept: "text/event-stream" }, signal: AbortSignal.any([signal, quiet.signal]) });
  begun();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const timer = setTimeout(() => quiet.abort(), SILENCE);
    const { value, done } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) take(JSON.parse(data.slice(6)));
    }
  }
}
