// Sends an open-loop load from a separate process: requests are sent when they are due, whether or not earlier ones
// have been answered. Each request that waits for an answer has its own connection.
import { Agent, get } from 'node:http'
import { childOptions, finishChild } from '../../run/child.mjs'
import { GAVE_UP, OTHER, REFUSED, SUCCESS } from './outcomes.mjs'
import { arrivals } from './schedule.mjs'

const { port, sources, durationMs, giveUpMs, seed, openConnections } = childOptions()
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 4_096 })
const due = arrivals(sources, durationMs, seed)
const record = { dueMs: [], source: [], lateMs: [], outcome: [], latencyMs: [] }
let startAt = 0
let next = due.next().value
let pending = 0

process.once('message', (message) => {
  startAt = message.startAt
  setTimeout(sendDue, Math.max(0, -elapsedMs()))
})
await Promise.all(Array.from({ length: openConnections }, openConnection))
process.send({ ready: true })

function openConnection() {
  return new Promise((resolve, reject) => {
    const opened = (response) => response.resume().once('end', resolve)
    get({ host: '127.0.0.1', port, path: '/open', agent }, opened).once('error', reject)
  })
}

/** Milliseconds since the start of the run, which all of its processes have in common. */
function elapsedMs() {
  return performance.timeOrigin + performance.now() - startAt
}

function sendDue() {
  const nowMs = elapsedMs()
  while (next && next.atMs <= nowMs) {
    send(next)
    next = due.next().value
  }
  if (next) setTimeout(sendDue, Math.max(1, next.atMs - elapsedMs()))
  else endIfDone()
}

function send({ atMs, source }) {
  const { path, headers, stayMs, localAddress } = sources[source]
  const index = record.dueMs.push(round(atMs)) - 1
  record.source.push(source)
  record.lateMs.push(round(elapsedMs() - atMs))
  pending++
  let hasEnded = false
  const end = (outcome) => {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(patience)
    record.outcome[index] = outcome
    record.latencyMs[index] = round(elapsedMs() - atMs)
    pending--
    endIfDone()
  }
  const request = get({ host: '127.0.0.1', localAddress, port, path, headers, agent }, (response) => {
    response.resume()
    const outcome = outcomeOf(response.statusCode)
    response.once('error', () => end(OTHER))
    if (stayMs === undefined || outcome !== SUCCESS) response.once('end', () => end(outcome))
    else {
      // the client of a stream has its answer, stays, and leaves
      end(outcome)
      setTimeout(() => request.destroy(), stayMs)
    }
  })
  request.on('error', () => end(OTHER))
  const patience = setTimeout(() => {
    end(GAVE_UP)
    request.destroy()
  }, giveUpMs)
}

function outcomeOf(status) {
  if (status >= 200 && status < 300) return SUCCESS
  return status === 429 || status === 503 ? REFUSED : OTHER
}

function round(ms) {
  return Math.round(ms * 10) / 10
}

function endIfDone() {
  if (!next && pending === 0) finishChild(record)
}
