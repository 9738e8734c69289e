// Reports what opencode does to Headspace, and gives it the answers of people. Installed by `headspace install`.
//
// The plugin runs inside the client. It reports an event by writing one file into the spool of Headspace, which the daemon
// reads at once or when it starts. It asks over HTTP before a tool runs, if the daemon wants to judge the call: without a reply
// within two seconds the call goes on. A permission or a question is sent over HTTP, too, and the request stays open in the
// background: the dialog of the client stays usable, and the first answer wins.
//
// Rules
// - Nothing here throws, except to deny a tool call. Nothing delays the client, except the two seconds above.
// - Streamed text and other noise is not reported; unknown events are, some of each type. Long texts are cut, except in what Headspace judges or answers.
// - A report names its session by the session that a person started. The session of a sub-agent is its `agent_id`.
// - What one event does not say, the plugin adds: the turn, the last text of the agent, the call of a dialog, the cost.
// - Files next to this one lead to Headspace: plugin-headspace/notify-headspace.state, a link to its state directory, and
//   notify-headspace.conf with the token for requests.

import fs from "node:fs"
import net from "node:net"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"

const CLIENT = "opencode"
const REPLY_MS = 1850
const TICKS = 40
const MAX_TEXT = 100_000
const MAX_ITEMS = 1_000
const MAX_DEPTH = 12
const MAX_REMEMBERED = 500
const MAX_SPOOLED = 50_000
const MAX_UNKNOWN = 20 // events of one unknown type
const COUNT_EVERY = 100

const FINAL = new Set([200, 204, 400, 404, 405, 409, 413, 415]) // a reply, or refused permanently

const NOTES = {
  TMUX_PANE: "tmux-pane",
  CLAUDE_HEADSPACE_TMUX_SESSION: "tmux-session",
  CLAUDE_HEADSPACE_SESSION_ID: "session-id",
  CLAUDE_SESSION_ID: "wrapper-id",
  AGENT_ID: "agent-id",
  CLAUDE_SESSION_ROLE: "role",
  CLAUDE_SESSION_MODE: "mode",
  MISSION_EXECUTION_ID: "mission-id",
}

const here = path.dirname(fileURLToPath(import.meta.url))
const files = path.join(here, "..", "plugin-headspace")
const state = path.join(files, "notify-headspace.state")
const installed = quietly(() => fs.lstatSync(state)) !== undefined

const sessions = new Map() // by id: what is known of a session
const calls = new Map() // by call id: the tool and the input of a call that runs
const unknown = new Map() // by type: how many events were reported that the plugin does not know
const held = new Map() // by request id: ends the open request of a dialog
let current = null // the session that was started last
let instances = 0
let lastMicros = 0
let reports = 0

// --- reporting ---

function micros() {
  lastMicros = Math.max(Date.now() * 1000, lastMicros + 1)
  return lastMicros
}

function plain(value) {
  return String(value).replace(/[\u0000-\u001f\u007f"\\]/g, "").slice(0, 200)
}

function bounded(value, depth = 0) {
  if (typeof value === "string") {
    if (value.startsWith("data:")) return `${value.slice(0, 60)}…` // a picture or another file
    return value.length <= MAX_TEXT ? value : `${value.slice(0, MAX_TEXT * 0.75)}\n…\n${value.slice(-MAX_TEXT / 4)}`
  }
  if (value === null || typeof value !== "object") return value
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((each) => bounded(each, depth + 1))
  const pairs = Object.entries(value).slice(0, MAX_ITEMS)
  return Object.fromEntries(pairs.map(([key, each]) => [key, bounded(each, depth + 1)]))
}

function parentOf(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
}

function ancestors() {
  const found = []
  try {
    for (let pid = parentOf(process.pid); pid > 1 && found.length < 24; pid = parentOf(pid)) found.push(pid)
  } catch {} // not Linux, or the process is gone
  return found.join(" ")
}

// Everything that is sent with a payload: as notes in the spool, as headers over HTTP.
function notesOf(event, id) {
  const fired = micros()
  const notes = {
    event,
    "delivery-id": plain(id || `${os.hostname()}-${process.pid}-${fired}`),
    "client-pid": String(process.pid),
    "fired-at": `${Math.floor(fired / 1e6)}.${String(fired % 1e6).padStart(6, "0")}`,
    client: CLIENT,
  }
  for (const [variable, note] of Object.entries(NOTES)) {
    const value = plain(process.env[variable] || "")
    if (value) notes[note] = value
  }
  if (event === "session.created") notes["ancestor-pids"] = ancestors()
  return notes
}

function isFull(spool) {
  reports += 1
  if (reports % COUNT_EVERY === 0 && fs.readdirSync(spool).length >= MAX_SPOOLED) {
    fs.writeFileSync(path.join(spool, "full"), "", { mode: 0o600 })
  }
  return fs.existsSync(path.join(spool, "full"))
}

function writeReport(notes, payload) {
  const spool = path.join(state, "spool")
  if (!fs.existsSync(spool)) fs.mkdirSync(spool, { recursive: true, mode: 0o700 })
  if (isFull(spool)) return fs.appendFileSync(path.join(spool, "lost"), ".", { mode: 0o600 })
  const file = path.join(spool, `${notes["fired-at"]}-${process.pid}-${Math.random().toString(36).slice(2, 10)}.json`)
  try {
    fs.writeFileSync(file, `${JSON.stringify(notes)}\n${payload}\n`, { mode: 0o600, flag: "wx" })
  } catch {
    fs.rmSync(file, { force: true }) // the disk is full: remove the partial file
  }
}

function report(event, payload, id, notes = notesOf(event, id)) {
  writeReport(notes, JSON.stringify(bounded(payload)))
}

// --- asking ---

function askedSeconds(event) {
  try {
    return Number(fs.readFileSync(path.join(state, "asked", `${CLIENT}.${event}`), "utf8")) || 0
  } catch {
    return null // the daemon does not want to be asked
  }
}

function token() {
  try {
    return fs.readFileSync(path.join(files, "notify-headspace.conf"), "utf8").split("\n")[0].replace(/^[^=]*=/, "")
  } catch {
    return ""
  }
}

// The daemon advertises its address and pid. The address is used only while that process runs, so that no other program
// gets the token.
function address() {
  try {
    if (fs.existsSync(path.join(state, "silent"))) return null
    const [host, port, pid] = fs.readFileSync(path.join(state, "address"), "utf8").trim().split(" ")
    process.kill(Number(pid), 0)
    return host && port ? { host, port: Number(port) } : null
  } catch {
    return null
  }
}

function requestText(notes, payload, { host, port }) {
  const { event, ...others } = notes
  const headers = Object.entries(others).map(([name, value]) => `X-Headspace-${name}: ${value.replace(/[^\x20-\x7e]/g, "")}`)
  return [
    `POST /hook/${event} HTTP/1.1`,
    `Host: ${host.includes(":") ? `[${host}]` : host}:${port}`,
    `Authorization: Bearer ${token()}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(payload)}`,
    "Connection: close",
    "X-Headspace-Reply: hook",
    ...headers,
    "",
    payload,
  ].join("\r\n")
}

// Resolves to the status and the body; the status is 0 if there was no complete reply. Not over a proxy: a plain socket.
// The time limit is counted in ticks: while the client itself is too busy to run timers, no time passes.
function exchange(where, text, milliseconds, signal) {
  return new Promise((resolve) => {
    const chunks = []
    const socket = net.connect(where)
    const done = () => {
      clearInterval(timer)
      signal?.removeEventListener("abort", done)
      socket.destroy()
      resolve(parseReply(Buffer.concat(chunks)))
    }
    let ticks = TICKS
    const timer = setInterval(() => (ticks -= 1) || done(), milliseconds / TICKS)
    timer.unref?.()
    signal?.addEventListener("abort", done)
    socket.on("connect", () => socket.write(text))
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", done)
    socket.on("close", done)
    socket.unref?.()
  })
}

function parseReply(bytes) {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return { status: 0, body: null }
  const head = bytes.subarray(0, end).toString("latin1")
  const status = Number(head.split(" ")[1]) || 0
  const body = bytes.subarray(end + 4)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  if (status !== 200 || body.length !== length) return { status, body: null }
  try {
    return { status, body: JSON.parse(body.toString("utf8")) }
  } catch {
    return { status, body: null }
  }
}

// Sends an event and resolves to the reply; null if there is none. An event that does not arrive is reported. What is
// judged or answered is sent completely: a cut command could hide what it does.
async function ask(event, payload, id, { seconds = 0, signal } = {}) {
  const notes = notesOf(event, id)
  const text = JSON.stringify(payload)
  const where = address()
  if (where) {
    const { status, body } = await exchange(where, requestText(notes, text, where), seconds * 1000 || REPLY_MS, signal)
    if (FINAL.has(status)) return body
    if (signal?.aborted) return null
    if (!seconds) fs.writeFileSync(path.join(state, "silent"), "", { mode: 0o600 })
  }
  report(event, payload, id, notes)
  return null
}

// --- sessions ---

function remember(map, key, value) {
  map.set(key, value)
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value)
  return value
}

function sessionOf(id) {
  return sessions.get(id) || remember(sessions, id, { id, parent: null, busy: false, text: "", failed: false, cost: 0 })
}

function learn(info) {
  const session = sessionOf(info.id)
  session.parent = info.parentID || session.parent
  session.directory = info.directory || session.directory
  session.agent = info.agent || session.agent
  return session
}

function rootOf(session) {
  let root = session
  for (let step = 0; root.parent && step < MAX_DEPTH; step += 1) root = sessionOf(root.parent)
  return root
}

function payloadOf(id, directory, more) {
  const session = sessionOf(id)
  const root = rootOf(session)
  const payload = { session_id: root.id, cwd: session.directory || root.directory || directory }
  if (root === session) return { ...payload, turn_id: session.turn, ...more }
  return { ...payload, agent_id: session.id, agent_type: session.agent, ...more }
}

function familyCost(root) {
  let sum = 0
  for (const each of sessions.values()) if (rootOf(each) === root) sum += each.cost
  return sum
}

// --- dialogs ---

function withCall({ tool }) {
  const call = calls.get(tool?.callID)
  return { tool_use_id: tool?.callID, tool_name: call?.tool, tool_input: call?.args }
}

async function post(client, url, requestID, body) {
  const result = await client._client.post({
    url,
    path: { requestID },
    body,
    headers: { "Content-Type": "application/json" },
  })
  if (result.error) throw new Error(JSON.stringify(result.error))
}

async function givePermission(client, properties, { reply, message }) {
  if (message && client._client?.post) {
    return post(client, "/permission/{requestID}/reply", properties.id, { reply, message })
  }
  const where = { id: properties.sessionID, permissionID: properties.id }
  const result = await client.postSessionIdPermissionsPermissionId({ path: where, body: { response: reply } })
  if (result?.error) throw new Error(JSON.stringify(result.error))
}

async function giveAnswers(client, properties, { answers }) {
  if (answers) return post(client, "/question/{requestID}/reply", properties.id, { answers })
  return post(client, "/question/{requestID}/reject", properties.id, {})
}

// Sends a dialog, and waits in the background for the answer of a person.
async function holdDialog(client, give, event, payload) {
  const seconds = askedSeconds(event.type)
  if (!seconds) return report(event.type, payload, event.id)
  const ended = new AbortController()
  remember(held, event.properties.id, ended)
  try {
    const reply = await ask(event.type, payload, event.id, { seconds, signal: ended.signal })
    if (reply?.answer && !ended.signal.aborted) await give(client, event.properties, reply.answer)
  } catch {
    if (!ended.signal.aborted) report(event.type, payload) // the dialog is still open
  } finally {
    held.delete(event.properties.id)
  }
}

function release(requestID) {
  held.get(requestID)?.abort()
}

// --- events ---

function onStatus(event, directory) {
  const { sessionID, status } = event.properties
  const session = sessionOf(sessionID)
  if (status.type === "idle") {
    if (!session.busy) return
    const more = session.failed ? { failed: true } : { message: session.text }
    report(event.type, payloadOf(sessionID, directory, { ...more, event: event.properties }), event.id)
    Object.assign(session, { busy: false, working: false, text: "", turn: undefined })
    return
  }
  if (status.type === "busy" && session.working) return
  if (!session.busy) session.failed = false
  Object.assign(session, { busy: true, working: status.type === "busy" })
  report(event.type, payloadOf(sessionID, directory, { event: event.properties }), event.id)
}

// The last text of a turn is reported with its end. Another text, or a tool call of the same step, shows that it is not.
function flushText(session, directory) {
  if (session.text) report("message.text", payloadOf(session.id, directory, { message: session.text }), session.textID)
  session.text = ""
}

function onPart(event, directory) {
  const { sessionID, part } = event.properties
  const session = sessionOf(sessionID)
  if (part.type === "text" && part.time?.end && part.messageID === session.message && part.id !== session.textID) {
    flushText(session, directory)
    Object.assign(session, { text: bounded(part.text), textID: part.id })
    if (session.calling) flushText(session, directory)
  } else if (part.type === "step-finish") {
    session.calling = false
  } else if (part.type === "tool") {
    onToolPart(event, session, part, directory)
  }
}

function onToolPart(event, session, part, directory) {
  const child = part.state?.metadata?.sessionId
  if (child && child !== session.id) sessionOf(child).parent = session.id
  if (part.state?.status !== "error") return
  calls.delete(part.callID)
  const { callID: tool_use_id, tool: tool_name, state: ended } = part
  const call = { tool_use_id, tool_name, tool_input: ended.input, error: ended.error, after_turn: !session.busy }
  report("tool.error", payloadOf(session.id, directory, call), event.id)
}

function onMessage(event, directory) {
  const { info, sessionID } = event.properties
  if (info.role !== "assistant" || info.summary) return
  const session = sessionOf(sessionID || info.sessionID)
  if (session.message !== info.id) Object.assign(session, { message: info.id, text: "", calling: false })
  if (!info.time?.completed || session.measured === info.id) return
  session.measured = info.id
  const { modelID, providerID, tokens, cost } = info
  const usage = { modelID, providerID, tokens, cost, window: session.window }
  report(event.type, payloadOf(session.id, directory, { event: usage }), event.id)
}

function onUpdated(event, directory) {
  const session = learn(event.properties.info)
  const cost = Number(event.properties.info.cost) || 0
  if (cost <= session.cost) return
  session.cost = cost
  const root = rootOf(session)
  report("session.cost", payloadOf(root.id, directory, { cost: familyCost(root) }), event.id)
}

function onCreated(event, directory) {
  const session = learn(event.properties.info)
  const source = current ? "clear" : "startup"
  if (!session.parent) current = session.id
  report(event.type, payloadOf(session.id, directory, { source, event: event.properties }), event.id)
}

// The session that the command line continues (`-s ID`). The client itself reports it only with its next prompt.
function continuedSession() {
  const words = quietly(() => fs.readFileSync("/proc/self/cmdline", "utf8").split("\0")) || process.argv
  const at = words.findIndex((word) => word === "-s" || word === "--session" || word.startsWith("--session="))
  const id = at < 0 ? "" : words[at].startsWith("--session=") ? words[at].slice("--session=".length) : words[at + 1]
  return id?.startsWith("ses_") ? id : null
}

function reportContinued(directory) {
  const id = current ? null : continuedSession()
  if (!id) return
  current = sessionOf(id).id
  report("session.created", payloadOf(id, directory, { source: "resume", event: {} }))
}

function onError(event, directory) {
  const { sessionID } = event.properties
  if (!sessionID) return
  sessionOf(sessionID).failed = true
  report(event.type, payloadOf(sessionID, directory, { event: event.properties }), event.id)
}

function asIs(event, directory) {
  const { sessionID, requestID } = event.properties
  report(event.type, payloadOf(sessionID, directory, { event: event.properties }), event.id)
  if (requestID) release(requestID)
}

// Events that say nothing about the state of an agent.
const IGNORED = new RegExp(
  [
    "^(catalog|command|file|global|installation|integration|lsp|mcp|models-dev|plugin|project|pty|reference|server|tui)\\.",
    "^(vcs|workspace|worktree)\\.|^(permission|question)\\.v2\\.|^session\\.(next\\.|deleted$|diff$|idle$)",
    "^message\\.(removed$|part\\.removed$|part\\.delta$)",
  ].join("|"),
)

// A new version of the client has events that this plugin does not know: they are stored, so that they are noticed.
function onUnknown(event, directory) {
  const count = (unknown.get(event.type) || 0) + 1
  if (!event.type || IGNORED.test(event.type) || count > MAX_UNKNOWN) return
  remember(unknown, event.type, count)
  const id = sessions.has(event.properties?.sessionID) ? event.properties.sessionID : current
  const whose = id ? payloadOf(id, directory, {}) : { cwd: directory }
  report(event.type, { ...whose, event: event.properties }, event.id)
}

function dialog(give) {
  return (event, directory, client) => {
    const more = { ...withCall(event.properties), event: event.properties }
    holdDialog(client, give, event, payloadOf(event.properties.sessionID, directory, more)).catch(() => {})
  }
}

const EVENTS = {
  "session.created": onCreated,
  "session.updated": onUpdated,
  "session.status": onStatus,
  "session.error": onError,
  "session.compacted": asIs,
  "message.updated": onMessage,
  "message.part.updated": onPart,
  "permission.asked": dialog(givePermission),
  "permission.replied": asIs,
  "question.asked": dialog(giveAnswers),
  "question.replied": asIs,
  "question.rejected": asIs,
  "todo.updated": asIs,
}

// --- hooks ---

function onPrompt(input, output, directory) {
  const session = sessionOf(input.sessionID)
  const more = { event: { message: output.message, parts: output.parts } }
  if (session.turn) more.turn_id = null // typed while the agent works: part of the turn
  else session.turn = output.message?.id
  if (!session.parent && !session.prompted) current = session.id
  Object.assign(session, { busy: true, working: true, prompted: true, failed: false })
  report("chat.message", payloadOf(session.id, directory, more), output.message?.id)
}

async function beforeTool(input, output, directory) {
  const { tool, sessionID, callID } = input
  const session = sessionOf(sessionID)
  remember(calls, callID, { tool, args: output.args })
  flushText(session, directory)
  session.calling = true
  const call = { tool_use_id: callID, tool_name: tool, tool_input: output.args }
  const payload = payloadOf(sessionID, directory, call)
  if (askedSeconds("tool.execute.before") === null) return report("tool.execute.before", payload)
  return (await ask("tool.execute.before", payload))?.deny
}

function afterTool(input, output, directory) {
  const { tool, sessionID, callID, args } = input
  calls.delete(callID)
  const { title, metadata, output: text } = output || {}
  const call = {
    tool_use_id: callID,
    tool_name: tool,
    tool_input: args,
    tool_response: { title, metadata, output: text },
    after_turn: !sessionOf(sessionID).busy,
  }
  report("tool.execute.after", payloadOf(sessionID, directory, call))
}

function onDispose(directory) {
  instances -= 1
  if (instances > 0 || !current) return
  for (const each of held.values()) each.abort()
  report("dispose", payloadOf(current, directory, {}))
}

function quietly(action) {
  try {
    return action()
  } catch {
    return undefined
  }
}

export const Headspace = async ({ client, directory }) => {
  if (!installed) return {}
  instances += 1
  quietly(() => reportContinued(directory))
  return {
    event: async ({ event }) => {
      quietly(() => (EVENTS[event.type] || onUnknown)(event, directory, client))
    },
    "chat.message": async (input, output) => {
      quietly(() => onPrompt(input, output, directory))
    },
    "chat.params": async (input) => {
      quietly(() => {
        sessionOf(input.sessionID).window = input.model?.limit?.context
      })
    },
    "tool.execute.before": async (input, output) => {
      const denial = await beforeTool(input, output, directory).catch(() => null)
      if (denial) throw new Error(denial)
    },
    "tool.execute.after": async (input, output) => {
      quietly(() => afterTool(input, output, directory))
    },
    "experimental.session.compacting": async (input) => {
      quietly(() => report("session.compacting", payloadOf(input.sessionID, directory, {})))
    },
    dispose: async () => {
      quietly(() => onDispose(directory))
    },
  }
}
