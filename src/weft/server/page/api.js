/* Calls of the HTTP API. A key lives in this tab alone. */

const KEY = "weft-key";
const NAMESPACE = "weft-namespace";
const ENDED = new Set(["done", "failed", "interrupted"]);

/** What the server says when it does not answer. */
export class Refusal extends Error {
  constructor(status, detail) {
    super(detail.message);
    this.status = status;
    this.code = detail.code;
    this.hint = detail.hint;
  }
}

export const credentials = () => ({
  key: sessionStorage.getItem(KEY) ?? "",
  namespace: sessionStorage.getItem(NAMESPACE) ?? "",
});

export function keepCredentials({ key, namespace }) {
  for (const [name, value] of [
    [KEY, key],
    [NAMESPACE, namespace],
  ]) {
    if (value) sessionStorage.setItem(name, value);
    else sessionStorage.removeItem(name);
  }
}

function headers() {
  const { key, namespace } = credentials();
  const found = {};
  if (key) found.Authorization = `Bearer ${key}`;
  // A header holds bytes, so a name beyond ASCII goes as its UTF-8.
  if (namespace) found["X-Weft-Namespace"] = String.fromCharCode(...new TextEncoder().encode(namespace));
  return found;
}

const gone = () =>
  new Refusal(0, { code: "unreachable", message: "The server does not answer", hint: "Is it still running?" });

async function send(path, { params = {}, ...options } = {}) {
  const url = new URL(path, document.baseURI);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  let response;
  try {
    response = await fetch(url, { ...options, headers: { ...headers(), ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw gone();
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refusal(response.status, body.error ?? { code: "failed", message: response.statusText, hint: "" });
}

const get = async (path, params) => (await send(path, { params })).json();

async function post(path, body, { signal } = {}) {
  const found = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return (await send(path, found)).json();
}

const remove = async (path) => (await send(path, { method: "DELETE" })).json();

/** How many chunks of a document come at once. */
export const CHUNKS = 200;

export const stats = () => get("stats");
export const ask = (query, { gate, signal } = {}) =>
  post("query", { query, facts: true, ...(gate === false ? { gate } : {}) }, { signal });
export const topEntities = (limit) => get("graph/entities", { limit });
export const entity = (name, limit) => get("graph/entity", { name, limit });
export const neighbours = (name, limit) => get("graph/neighbours", { name, limit });
export const documents = (prefix, after) => get("documents", { prefix, after, limit: 50 });
export const wholeDocument = (id, after = "") =>
  get(`documents/${encodeURIComponent(id)}`, { after, limit: CHUNKS });
export const facts = (subject, after, limit = 60) => get("facts", { subject, after, limit });
export const fact = (id) => get(`facts/${encodeURIComponent(id)}`);
export const confirmFact = (id) => post(`facts/${encodeURIComponent(id)}/confirm`, {});
export const rejectFact = (id) => post(`facts/${encodeURIComponent(id)}/reject`, {});
export const forgetFact = (id) => remove(`facts/${encodeURIComponent(id)}`);
export const removeDocument = (id) => remove(`documents/${encodeURIComponent(id)}`);
export const addFact = (statement) => post("facts", { facts: [statement] });

/** Send files; the answer is the job that indexes them. */
export async function upload(files) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  return (await send("documents/upload", { method: "POST", body: form })).json();
}

/** Follow a job's events to its end. They are read here, since an EventSource cannot carry a key. */
export async function follow(id, onProgress) {
  const response = await send(`jobs/${encodeURIComponent(id)}/events`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  let last = null;
  for (;;) {
    const { value, done } = await reader.read().catch(() => {
      throw gone();
    });
    if (done && !ENDED.has(last?.state)) throw gone();
    if (done) return last;
    waiting += value;
    const events = waiting.split("\n\n");
    waiting = events.pop();
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) onProgress((last = JSON.parse(data.slice(6))));
    }
  }
}
