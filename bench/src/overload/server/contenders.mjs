// Servers that differ only in what protects them. Each of them calls `handle(req, res)` for admitted requests. A
// process loads only the peer that it runs, because some of them watch the event loop as soon as they are loaded.
import { createServer } from 'node:http'
import { inflightLimit, shed } from '@sluice/node-http'
import { adaptive } from '@sluice/overload'

const backlog = 4_096
/** Longer than any run, so that no server closes a connection while a request is on its way. */
const keepAliveMs = 3_600_000

const contenders = {
  'no limiter': (handle) => openPlain((_req, _res, next) => next(), handle),
  'fixed cap': (handle, { fixedCap, watch }) => openCap({ limit: fixedCap }, handle, watch),
  '@fastify/under-pressure': openUnderPressure,
  'overload-protection': openOverloadProtection,
  'toobusy-js': openTooBusy,
  gradient: (handle, options) => openAlgorithm('gradient', handle, options),
  vegas: (handle, options) => openAlgorithm('vegas', handle, options),
  aimd: (handle, options) => openAlgorithm('aimd', handle, options),
  sluice: (handle, options) => openCap(sluiceOptions(options), handle, options.watch),
  'sluice, queue': (handle, options) => openCap(queuedOptions(options), handle, options.watch),
  'sluice, shed': (handle, options) => openShed(options, handle),
}

/** Starts the server of a contender and returns its port. `watch` receives the limit whenever it is used. */
export async function openContender(name, handle, options) {
  return contenders[name](handle, options)
}

/** Options as in the documentation. */
function sluiceOptions(options) {
  return { limit: adaptive(), ...priorityOf(options) }
}

function priorityOf({ byPriority }) {
  return byPriority && { priority: { header: 'x-priority' } }
}

function queuedOptions({ byPriority, maxWaitMs }) {
  return { ...sluiceOptions({ byPriority }), queue: { max: 24, maxWaitMs } }
}

function openAlgorithm(algorithm, handle, { timeoutMs, watch }) {
  const limit = adaptive({ algorithm, ...(algorithm === 'aimd' && { timeout: timeoutMs }) })
  return openCap({ limit }, handle, watch)
}

function openCap(options, handle, watch) {
  const observer = {
    permitAcquired: (_key, { limit }) => watch(limit),
    capDenied: (_key, { limit }) => watch(limit),
  }
  return openPlain(inflightLimit({ ...options, observers: [observer] }), handle)
}

function openPlain(guard, handle) {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => guard(req, res, () => handle(req, res)))
  return listening(server)
}

function openShed(options, handle) {
  return openPlain(shed({ ...priorityOf(options) }), handle)
}

function listening(server) {
  return new Promise((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1', backlog }, () => resolve(server.address().port))
  })
}

/** The thresholds of its README for the event loop; memory is not what these scenarios use up. */
async function openUnderPressure(handle) {
  const [{ default: fastify }, { default: underPressure }] = await Promise.all([
    import('fastify'),
    import('@fastify/under-pressure'),
  ])
  const app = fastify({ keepAliveTimeout: keepAliveMs })
  await app.register(underPressure, { maxEventLoopDelay: 1_000, maxEventLoopUtilization: 0.98 })
  app.get('/*', (request, reply) => {
    reply.hijack()
    handle(request.raw, reply.raw)
  })
  await app.listen({ port: 0, host: '127.0.0.1', backlog })
  return app.server.address().port
}

/** Its defaults: an event loop delay of 42 ms. */
async function openOverloadProtection(handle) {
  const { default: overloadProtection } = await import('overload-protection')
  const protect = overloadProtection('http')
  return openPlain((req, res, next) => protect(req, res) === true || next(), handle)
}

/** Its defaults: a lag of 70 ms. */
async function openTooBusy(handle) {
  const { default: toobusy } = await import('toobusy-js')
  const refuseIfTooBusy = (_req, res, next) => {
    if (!toobusy()) return next()
    res.writeHead(503, { 'retry-after': '1' }).end()
  }
  return openPlain(refuseIfTooBusy, handle)
}
