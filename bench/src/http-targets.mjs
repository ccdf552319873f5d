import { targetColumns, targetRow } from './target.mjs'

// from DESIGN: the allowed additional cost and the bare server it refers to. On another machine only the share can be
// compared. DESIGN has no row for Nest, which is compared only with its best-known limiter.
const aims = {
  'Express 5': { addedUs: 18, bareUs: 167 },
  'Koa 3': { addedUs: 9, bareUs: 48 },
  'Fastify 5': { addedUs: 6, bareUs: 35 },
}
const capAimUs = 5

/** `added(name)` and `addedPercent(name)`: medians over the rounds; `addedOn(name, other)`: first minus other. */
export function httpTargetTable(chosen, measured) {
  const sluice = chosen.filter(({ role }) => role === 'sluice')
  const rows = sluice.flatMap((contender) => {
    if (contender.denial) return [denialRow(contender, measured)]
    return [...aimRows(contender, measured), ...peerRows(contender, chosen, measured), ...capRows(contender, measured)]
  })
  const notes = [
    'autocannon, 32 connections, pipelining 1, from another process; NODE_ENV=production; one client address. The servers of a framework take turns of a second; "added" is against the bare server of the same turn.',
    'Every response was checked: all 200 or all 429.',
    'Nest has no target in the design: it is compared with the best-known limiter, and the rows of an empty guard and interceptor show the cost of Nest itself.',
  ]
  return { title: 'HTTP targets', columns: targetColumns, rows, notes }
}

function denialRow({ name, of: allowed }, { added }) {
  return targetRow(`${name}: added µs, against its 200`, added(name), added(allowed))
}

function aimRows({ name, group, capOn }, { added, addedPercent }) {
  const aim = aims[group]
  if (!aim || capOn !== undefined) return []
  return [
    targetRow(`${name}: added µs`, added(name), aim.addedUs),
    targetRow(`${name}: added % of bare`, addedPercent(name), (aim.addedUs / aim.bareUs) * 100),
  ]
}

/** Compared with the cheapest setting of the best-known limiter, which has no caps. */
function peerRows({ name, group, capOn }, chosen, { added }) {
  const peers = chosen.filter((other) => other.group === group && other.role === 'peer' && !other.denial)
  if (capOn !== undefined || peers.length === 0) return []
  const best = Math.min(...peers.map((peer) => added(peer.name)))
  return [targetRow(`${name}: added µs, best-known limiter`, added(name), best)]
}

function capRows({ name, capOn }, { addedOn }) {
  if (capOn === undefined) return []
  return [targetRow(`${name}: added µs, of the cap`, addedOn(name, capOn), capAimUs)]
}
