// The shadow's addresses that are not a stream: docs/internals/live-page.md describes them.

/** Stored is a session in sessions.json. */
export interface Stored {
  id: string;
  session: string;
  name: string;
  note: string;
  program: string;
  host: string;
  pid: number;
  service?: string;
  version?: string;
  env?: string;
  instance?: string;
  started: string;
  duration_ns: number;
  bytes: number;
  executions: number;
  creations: number;
  lost: number;
  lost_batches: number;
  state: string;
  running: boolean;
  damaged?: string;
  report?: string;
  live?: string;
}

/** ShadowState is state.json. */
export interface ShadowState {
  store: string;
  bus: string;
  fault: string;
  troubles: string[];
  running: number;
  csrf: string;
  fleet: boolean;
}

/** stateOf asks the shadow how it is. */
export async function shadowState(): Promise<ShadowState> {
  return (await ask("/state.json")).json() as Promise<ShadowState>;
}

/** StoredPage is a part of the list of sessions. */
export interface StoredPage {
  rows: Stored[];
  /** How many match. */
  total: number;
  /** The address of the next ones; "": there are none. */
  next: string;
}

/** storedSessions lists sessions that match the words of q, or those of an address in next. */
export async function storedSessions(q: string, limit: number, next = ""): Promise<StoredPage> {
  const answer = await ask(next || "/sessions.json?" + new URLSearchParams({ q, limit: String(limit) }).toString());
  return {
    rows: (await answer.json()) as Stored[],
    total: Number(answer.headers.get("X-Total-Count") ?? 0),
    next: /<([^>]*)>; *rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1] ?? "",
  };
}

/** addressOf is where the shadow has a session. */
export function addressOf(id: string): string {
  return "/sessions/" + encodeURIComponent(id);
}

/** removeSession deletes a session for good. */
export async function removeSession(id: string): Promise<void> {
  await change("DELETE", addressOf(id));
}

/** labelSession keeps a name and a note. */
export async function labelSession(id: string, name: string, note: string): Promise<void> {
  await change("POST", addressOf(id) + "/label", JSON.stringify({ name, note }));
}

let csrf = "";

// change sends a request that changes something. The token is a new one after the shadow's
// restart, so a refusal is worth one more try.
async function change(method: string, address: string, body: string | null = null): Promise<void> {
  for (const last of [false, true]) {
    if (!csrf || last) csrf = (await shadowState()).csrf;
    const answer = await send(address, { method, body, headers: { "X-CSRF-Token": csrf, ...(body ? { "Content-Type": "application/json" } : {}) } });
    if (answer.ok) return;
    if (answer.status !== 403 || last) throw new Error(await reason(answer));
  }
}

/** ask reads an address. */
export async function ask(address: string, signal?: AbortSignal): Promise<Response> {
  const answer = await send(address, signal ? { signal } : {});
  if (!answer.ok) throw new Error(await reason(answer));
  return answer;
}

async function send(address: string, o: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { credentials: "same-origin", ...o });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new Error("the shadow does not answer");
  }
}

// reason is what the shadow says about an error: a line of text.
async function reason(answer: Response): Promise<string> {
  const text = (await answer.text().catch(() => "")).trim();
  return text && text.length < 500 ? text : `the shadow answers with ${answer.status}`;
}
