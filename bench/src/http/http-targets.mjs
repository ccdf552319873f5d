// The cost that a limit adds to a bare server, as a part of what the best-known limiter adds in the same turns.
const goals = {
  'Express 5': { rate: 0.5, cap: 0.6, both: 1 },
  'Koa 3': { rate: 0.8, cap: 0.9, both: 1.4 },
  'Fastify 5': { rate: 0.9, cap: 1, both: 1.6 },
  'Hono 4': { rate: 1 },
  'Nest 12 on Express 5': { rate: 0.8 },
}
/** The peer that writes the same headers, where one of several does. Default: the fastest one. */
const peerNames = { 'Express 5': 'express-rate-limit (draft-8)' }
/** Goals for the cost of a request, as a part of the cost on the bare server; only over sockets. */
const wholeGoals = { 'Hono 4': { cap: 1.3 } }
const denialGoal = 1.05

const httpTargetColumns = ['target', 'sockets', 'injected', 'at most', 'quartiles', 'result']

/** `figures` has quartiles for each mode: `cpuUs(name)`, and `added(name, other)`, the difference between two servers. */
export function httpTargetTable(chosen, figures) {
  const rows = chosen.filter(({ role }) => role === 'sluice').flatMap((one) => rowsOf(one, chosen, figures))
  const notes = [
    'CPU time of the server process; NODE_ENV=production. All servers of a framework run in one process and take turns of 200 requests in random order, in fresh processes; the figures are the mean of the lowest tenth of the turns; "added" is the difference to the bare server. `sockets`: 16 connections of a separate process; `injected`: light-my-request, and `app.request` of Hono.',
    'Every response was checked: all 200 or all 429.',
    'Result: that of both modes, or of the only one. "Quartiles" says whether the quartiles of both costs are apart, over sockets and injected; if they overlap, the difference may be noise.',
  ]
  return { title: 'HTTP targets', columns: httpTargetColumns, rows, notes }
}

function rowsOf({ name, group, part, denial, of, bare }, chosen, figures) {
  if (denial) return [rowOf(`${name}, × its 200`, denialGoal, figures, ({ cpuUs }) => parts(cpuUs(name), cpuUs(of)))]
  const whole = wholeGoals[group]?.[part]
  if (whole !== undefined) {
    const { cpuUs } = figures.sockets
    const { ratio, apart } = parts(cpuUs(name), cpuUs(bare))
    const result = ratio <= whole ? 'hit' : 'MISS'
    return [[`${name}: a request, × ${bare}`, ratio, '', whole, apart ? 'apart' : 'overlap', result]]
  }
  const goal = goals[group]?.[part]
  const isPeer = (other) => other.group === group && other.role === 'peer' && !other.denial
  const peers = chosen.filter((other) => isPeer(other) && other.name === (peerNames[group] ?? other.name))
  if (goal === undefined || peers.length === 0) return []
  const addedBy = (peer) => figures.sockets.added(peer.name, bare).us
  const best = peers.reduce((one, other) => (addedBy(other) < addedBy(one) ? other : one))
  const what = `${name}: added, × ${best.name}`
  return [rowOf(what, goal, figures, ({ added }) => parts(added(name, bare), added(best.name, bare)))]
}

function parts(own, other) {
  return { ratio: own.us / other.us, apart: own.high < other.low || other.high < own.low }
}

function rowOf(what, goal, figures, read) {
  const { sockets, injected } = { sockets: read(figures.sockets), injected: read(figures.injected) }
  const apart = [sockets, injected].map((one) => (one.apart ? 'apart' : 'overlap')).join(', ')
  const result = Math.max(sockets.ratio, injected.ratio) <= goal ? 'hit' : 'MISS'
  return [what, sockets.ratio, injected.ratio, goal, apart, result]
}
