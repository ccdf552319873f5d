// State observed by an insight: five policies, ten routes, and requests as an adapter presents them.
import { EventEmitter } from 'node:events'
import { createLimiter } from '@sluice/limiter-core'

const policies = 5
const routes = Array.from({ length: 10 }, (_, at) => `/route/${at}`)

/** One limiter per policy, used one at a time. */
export function openLimiters(observers) {
  return Array.from({ length: policies }, (_, at) =>
    createLimiter({ policies: [{ name: `policy ${at}`, limit: 1e9, window: '1h' }], observers }),
  )
}

/** Decides the n-th request, whose response ends at once; the cost of frameworks is in the request tables. */
export function decide(limiters, call, key) {
  const route = routes[call % routes.length]
  const outgoing = new EventEmitter()
  const view = { ip: '', method: 'GET', route, header: noHeader, raw: outgoing, outgoing }
  limiters[call % policies].take(key, 1, { request: { route, method: 'GET', request: outgoing, view } })
  outgoing.emit('close')
}

export function cpuUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

function noHeader() {}
