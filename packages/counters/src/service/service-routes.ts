import type { IncomingMessage } from 'node:http'
import type { CounterReading, Counters, IncrementOptions } from '@sluice/fleet/backend'
import { prometheusText } from '@sluice/fleet/metrics'
import type { Clock, MetricSource } from '@sluice/limiter-core'
import { checkDelta, foldedDeltas } from '../counter-delta.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { counterOpenApi } from './open-api/counter-open-api.ts'
import { type BodyFields, requestFields } from './request-body.ts'
import { decodedText, queryOf, wholeParameter } from './request-target.ts'
import type { CounterScope } from './service-access.ts'
import { ServiceProblem } from './service-problem.ts'
import { jsonResponse, NO_CONTENT, type ServiceResponse } from './service-response.ts'

/** Dependencies of the routes. */
export interface ServiceParts {
  readonly counters: Counters
  readonly clock: Clock
  readonly sources: readonly MetricSource[]
}

export interface RouteCall extends ServiceParts {
  readonly req: IncomingMessage
  /** Decoded path parameter (id or prefix); `''` if the route has none. */
  readonly id: string
  readonly query: string
}

export interface ServiceRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path as in the OpenAPI document; also the label of metrics. */
  readonly path: string
  /** Scope that the token needs. Routes without a scope need no token and are not limited. */
  readonly scope: CounterScope | undefined
  run(call: RouteCall): Promise<ServiceResponse>
}

const DEFAULT_PAGE = 1_000

/** Routes in order of precedence: the first one that matches path and method is used. */
export const serviceRoutes: readonly ServiceRoute[] = [
  { method: 'GET', path: '/healthz', scope: undefined, run: health },
  { method: 'GET', path: '/openapi.json', scope: undefined, run: openApi },
  { method: 'GET', path: '/metrics', scope: 'counters:admin', run: metrics },
  { method: 'GET', path: '/counters', scope: 'counters:read', run: list },
  { method: 'POST', path: '/counters/batch', scope: 'counters:write', run: batch },
  { method: 'POST', path: '/counters/flush', scope: 'counters:write', run: flush },
  { method: 'GET', path: '/counters/{id}', scope: 'counters:read', run: read },
  { method: 'DELETE', path: '/counters/{id}', scope: 'counters:admin', run: remove },
  { method: 'POST', path: '/counters/{id}/increment', scope: 'counters:write', run: increment },
  { method: 'POST', path: '/counters/{id}/reset', scope: 'counters:admin', run: reset },
  { method: 'GET', path: '/counters/{prefix}*/aggregate', scope: 'counters:read', run: aggregate },
]

async function health({ query }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  return jsonResponse({ status: 'ok' })
}

async function openApi({ query }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  return jsonResponse(counterOpenApi)
}

async function metrics({ query, sources }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }
  try {
    return { status: 200, headers, body: prometheusText(...sources) }
  } catch {
    // an error of a metric source is not the client's fault, whatever its code
    throw new ServiceProblem(500, 'internal')
  }
}

async function list({ query, counters }: RouteCall): Promise<ServiceResponse> {
  const parameters = queryOf(query, ['prefix', 'limit', 'after'])
  const limit = wholeParameter(parameters, 'limit') ?? DEFAULT_PAGE
  const after = parameters.get('after')
  const readings = await counters.readMany(parameters.get('prefix') ?? '', { limit, after })
  const next = readings.length < limit ? null : (readings.at(-1)?.id ?? null)
  return jsonResponse({ counters: readings.map(readingBody), next, ...downBody(counters) })
}

async function read({ id, query, counters }: RouteCall): Promise<ServiceResponse> {
  const maxAgeMs = wholeParameter(queryOf(query, ['maxAgeMs']), 'maxAgeMs')
  return jsonResponse(readingBody(await counters.read(id, { maxAgeMs })))
}

async function aggregate({ id, query, counters }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  const sum = await counters.aggregate(id)
  return jsonResponse({ prefix: id, sum, ...downBody(counters) })
}

async function increment({ req, id, query, counters, clock }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  const token = idempotencyKey(req)
  const fields = await requestFields(req, clock, ['delta', 'durable'])
  const delta = fields.has('delta') ? fields.get('delta') : 1
  checkDelta(delta)
  const { value, durable, counted } = await counters.increment(id, delta, incrementOptions(token, fields))
  return jsonResponse({ value, ...receiptBody(durable, counted) })
}

async function batch({ req, query, counters, clock }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  const token = idempotencyKey(req)
  const fields = await requestFields(req, clock, ['deltas', 'durable'])
  const deltas = foldedDeltas(fields.get('deltas') as Record<string, number>)
  const { values, durable, counted } = await counters.incrementMany(deltas, incrementOptions(token, fields))
  return jsonResponse({ values: Object.fromEntries(values), ...receiptBody(durable, counted) })
}

async function flush({ query, counters }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  await counters.flush()
  return NO_CONTENT
}

async function reset({ id, query, counters }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  await counters.reset(id)
  return NO_CONTENT
}

async function remove({ id, query, counters }: RouteCall): Promise<ServiceResponse> {
  queryOf(query, [])
  await counters.delete(id)
  return NO_CONTENT
}

/** Returns the options of an increment; the counters validate `durable`. */
function incrementOptions(token: string | undefined, fields: BodyFields): IncrementOptions {
  return { token, ...(fields.has('durable') && { durable: fields.get('durable') as boolean }) }
}

function receiptBody(durable: boolean, counted: boolean): object {
  return { status: counted ? 'ok' : 'duplicate', ...(durable && { durable }) }
}

/** Returns the nodes whose counts are missing from the response, if there are any. */
function downBody({ down = [] }: Counters): object {
  return down.length === 0 ? {} : { down }
}

function readingBody({ id, value, version, updatedAt }: CounterReading): object {
  return { id, value, version, updatedAt: updatedAt ?? null }
}

/** Returns the id in a path segment, or the prefix before the star. Throws a problem if there is none. */
export function idIn(path: string, segment: string): string {
  const text = decodedText(segment, 'id')
  if (!path.includes('*')) return text
  if (!text.endsWith('*')) throw new ServiceProblem(404, 'not-found')
  return text.slice(0, -1)
}
