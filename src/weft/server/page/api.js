/* Client of the HTTP API. The API key is kept in this tab only. */

const KEY = "weft-key";
const NAMESPACE = "weft-namespace";
const ENDED = new Set(["done", "failed", "interrupted"]);

/** Error response of the server. */
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
  const values = {};
  if (key) values.Authorization = `Bearer ${key}`;
  // A header value is a byte string, so a non-ASCII name is sent as UTF-8 bytes.
  if (namespace) values["X-Weft-Namespace"] = String.fromCharCode(...new TextEncoder().encode(namespace));
  return values;
}

const unreachable = () =>
  new Refusal(0, { code: "unreachable", message: "The server does not respond", hint: "Check that it is running" });

async function send(path, { params = {}, ...options } = {}) {
  const url = new URL(path, document.baseURI);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  let response;
  try {
    response = await fetch(url, { ...options, headers: { ...headers(), ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refusal(response.status, body.error ?? { code: "failed", message: response.statusText, hint: "" });
}

const get = async (path, params) => (await send(path, { params })).json();

async function post(path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
}

const remove = async (path) => (await send(path, { method: "DELETE" })).json();

/** Chunks of a document per page. */
export const CHUNKS_PER_PAGE = 200;

export const stats = () => get("stats");
export const key = () => get("key");
export const open = async (id) => (await send(`documents/${encodeURIComponent(id)}/open`, { method: "POST" })).json();
export const keys = () => get("keys", { limit: 1000 });
export const createKey = (given) => post("keys", given);
export const revokeKey = (id) => remove(`keys/${encodeURIComponent(id)}`);
export const brokenLinks = (limit) => get("links/broken", { limit });
export const ask = (query, { gate, signal, fields = {}, facts = true } = {}) =>
  post("query", { query, facts, ...fields, ...(gate === false ? { gate } : {}) }, { signal });
export const topEntities = (limit) => get("graph/entities", { limit });
export const entity = (name, limit) => get("graph/entity", { name, limit });
export const editEntity = (edit) => post("graph/edits", edit);
export const neighbours = (name, limit) => get("graph/neighbours", { name, limit });
export const overview = () => get("graph/overview");
export const path = (source, target) => get("graph/path", { source, target });

/** Return the documents, in pages of a thousand, and true if there are more than fit into the page. */
export async function allDocuments(prefix, most) {
  const found = [];
  for (let after = ""; after !== null && found.length < most; ) {
    const page = await get("documents", { prefix, after, limit: 1000 });
    found.push(...page.documents);
    after = page.next;
  }
  return { found: found.slice(0, most), isCut: found.length >= most };
}

export const wholeDocument = (id, after = "") =>
  get(`documents/${encodeURIComponent(id)}`, { after, limit: CHUNKS_PER_PAGE });
export const related = (id, limit) => get("related", { id, limit });
export const facts = (subject, after, limit = 60) => get("facts", { subject, after, limit });
export const timeline = (when) => get("timeline", when ? { when } : {});
export const fact = (id) => get(`facts/${encodeURIComponent(id)}`);
export const confirmFact = (id) => post(`facts/${encodeURIComponent(id)}/confirm`, {});
export const rejectFact = (id) => post(`facts/${encodeURIComponent(id)}/reject`, {});
export const forgetFact = (id) => remove(`facts/${encodeURIComponent(id)}`);
export const removeDocument = (id) => remove(`documents/${encodeURIComponent(id)}`);
export const addFact = (statement) => post("facts", { facts: [statement] });

/** Return the folders of the first thousand documents, as prefixes of their sources. */
export async function folders() {
  const { documents: found } = await get("documents", { limit: 1000 });
  const names = new Set();
  for (const { source } of found) {
    const parts = source.split("/");
    for (let n = parts.length - 1; n > 0; n -= 1) names.add(`${parts.slice(0, n).join("/")}/`);
  }
  // A folder that holds every document restricts nothing.
  return [...names].filter((name) => name !== "/" && !found.every(({ source }) => source.startsWith(name))).sort();
}

/** Return the id of the document that a relative or site link leads to, from the document `source`. */
export async function linked(to, source) {
  const path = decoded(to.split(/[?#]/)[0]).replace(/\/$/, "");
  const [scheme] = /^[a-z]+:(?!\/)/.exec(source) ?? [""];
  const folders = source.slice(scheme.length).split("/").slice(0, -1);
  // A site link such as `/docs/pods/` starts at some folder above the document; `../pods.md` at its own.
  const bases = path.startsWith("/") ? folders.map((_, n) => folders.slice(0, folders.length - n)) : [folders];
  for (const base of bases) {
    const start = scheme + normal([...base, ...path.split("/")]);
    const { documents: found } = await get("documents", { prefix: start, limit: 20 });
    const match = found.find(({ source: at }) => /^(\.\w+|\/_?(index|README)\.\w+)?$/.test(at.slice(start.length)));
    if (match) return match.id;
  }
  throw new Refusal(404, { code: "not_found", message: `no indexed document at the link ${to}`, hint: "" });
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function normal(parts) {
  const kept = [];
  for (const part of parts) {
    if (part === "..") kept.pop();
    else if (part !== "." && (part || !kept.length)) kept.push(part);
  }
  return kept.join("/");
}

/** Upload files; return the job that indexes them. */
export async function upload(files) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  return (await send("documents/upload", { method: "POST", body: form })).json();
}

/** Read the events of a job until it ends. */
export async function follow(id, onProgress) {
  let last = null;
  await readEvents(await send(`jobs/${encodeURIComponent(id)}/events`), (_, data) => onProgress((last = data)));
  if (!ENDED.has(last?.state)) throw unreachable();
  return last;
}

/** Ask for the first line of an answer; `onPart` gets the name and the data of each part as it arrives. */
export async function answer(query, { fields = {}, signal } = {}, onPart) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ query, ...fields, stream: true });
  await readEvents(await send("answer", { method: "POST", headers, body, signal }), onPart);
}

/** Call `onEvent` with the name and the data of each event. An EventSource cannot send an API key, so this uses fetch. */
async function readEvents(response, onEvent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : unreachable();
    });
    if (done) return;
    buffer += value;
    const events = buffer.split("\n\n");
    buffer = events.pop();
    for (const event of events) {
      const lines = event.split("\n");
      const [name, data] = ["event: ", "data: "].map((mark) => lines.find((line) => line.startsWith(mark))?.slice(mark.length));
      if (data) onEvent(name, JSON.parse(data));
    }
  }
}
