import { counterSchemas, type OpenApiPart, ref } from './counter-schemas.ts'

const PROBLEM_MEDIA_TYPE = 'application/problem+json'
const PROBLEMS: Readonly<Record<string, string>> = {
  400: 'The request does not match this document.',
  401: 'The token is missing or unknown.',
  403: 'The token lacks the scope, or the service has no tokens and the request is from another machine.',
  408: 'The body arrived too slowly.',
  409: 'The value would leave ±(2^53 - 1). Nothing was counted.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not application/json.',
  422: 'The Idempotency-Key was used for another increment within 24 hours. Nothing was counted.',
  429: 'A rate limit denied the request. Nothing was counted.',
  500: 'Internal error of the service.',
  503: 'Too many requests are in progress, or the ledger is unavailable or full; see `code`.',
}
const ALWAYS = [400, 403] as const
const GUARDED = [...ALWAYS, 401, 429, 500, 503] as const
const COUNTING = [...GUARDED, 408, 409, 413, 415, 422] as const
const LIMIT_HEADERS: readonly string[] = ['Retry-After', 'RateLimit', 'RateLimit-Policy']
const ID: OpenApiPart = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Percent-encoded UTF-8; a slash is %2F.',
  schema: ref('Id'),
}
const PREFIX: OpenApiPart = { name: 'prefix', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } }
const TOKEN: OpenApiPart = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Requests with the same key count once within 24 hours. A String or Display String of RFC 9651, or a bare value.',
  schema: { type: 'string' },
}

/** OpenAPI 3.1 document of the service, served at `/openapi.json`. */
export const counterOpenApi: OpenApiPart = {
  openapi: '3.1.0',
  info: { title: 'Usage counters', version: '1' },
  paths: {
    '/healthz': { get: open('The service is running', jsonOf('Health')) },
    '/openapi.json': { get: open('This document', { 'application/json': { schema: { type: 'object' } } }) },
    '/metrics': { get: guarded('Metrics in the Prometheus text format', 'admin', { content: text() }) },
    '/counters': {
      get: guarded('Counters in the byte order of their ids', 'read', {
        content: jsonOf('ReadingList'),
        parameters: [
          query('prefix', { type: 'string', default: '' }),
          query('limit', { type: 'integer', minimum: 1, maximum: 10_000, default: 1_000 }),
          query('after', { type: 'string' }),
        ],
      }),
    },
    '/counters/batch': {
      post: counting('Adds to several counters, all or none', { body: 'Batch', content: 'BatchReceipt' }),
    },
    '/counters/flush': {
      post: guarded('Responds when all increments so far are as durable as the ledger makes them', 'write'),
    },
    '/counters/{id}': {
      parameters: [ID],
      get: guarded('Reads a counter; 0 if it was never counted', 'read', {
        content: jsonOf('Reading'),
        parameters: [query('maxAgeMs', { type: 'integer', minimum: 0 })],
      }),
      delete: guarded('Sets a counter to 0 and removes it from lists until it is counted again', 'admin'),
    },
    '/counters/{id}/increment': {
      parameters: [ID],
      post: counting('Adds to a counter', { body: 'Increment', content: 'Receipt', isOptional: true }),
    },
    '/counters/{id}/reset': { parameters: [ID], post: guarded('Sets a counter to 0', 'admin') },
    '/counters/{prefix}*/aggregate': {
      parameters: [PREFIX],
      get: guarded('Sum of all counters whose ids start with the prefix', 'read', { content: jsonOf('Aggregate') }),
    },
  },
  components: {
    schemas: counterSchemas,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'Scopes: counters:read, counters:write, counters:admin.' },
    },
  },
}

interface Success {
  readonly content?: OpenApiPart
  readonly parameters?: readonly OpenApiPart[]
}

function open(summary: string, content: OpenApiPart): OpenApiPart {
  return { summary, responses: { 200: { description: summary, content }, ...problems(ALWAYS) } }
}

function guarded(summary: string, scope: string, { content, parameters }: Success = {}): OpenApiPart {
  const done = content ? { 200: { description: summary, headers: rateHeaders(), content } } : noContent(summary)
  return {
    summary,
    security: [{ bearer: [`counters:${scope}`] }],
    ...(parameters && { parameters }),
    responses: { ...done, ...problems(GUARDED) },
  }
}

function counting(
  summary: string,
  { body, content, isOptional = false }: { body: string; content: string; isOptional?: boolean },
): OpenApiPart {
  return {
    ...guarded(summary, 'write'),
    parameters: [TOKEN],
    requestBody: { required: !isOptional, content: jsonOf(body) },
    responses: {
      200: { description: summary, headers: rateHeaders(), content: jsonOf(content) },
      ...problems(COUNTING),
    },
  }
}

function noContent(summary: string): OpenApiPart {
  return { 204: { description: summary, headers: rateHeaders() } }
}

function problems(statuses: readonly number[]): OpenApiPart {
  return Object.fromEntries(
    statuses.map((status) => {
      const content = { [PROBLEM_MEDIA_TYPE]: { schema: ref('Problem') } }
      return [status, { description: PROBLEMS[status], headers: rateHeaders(), content }]
    }),
  )
}

function rateHeaders(): OpenApiPart {
  return Object.fromEntries(LIMIT_HEADERS.map((name) => [name, { schema: { type: 'string' } }]))
}

function jsonOf(name: string): OpenApiPart {
  return { 'application/json': { schema: ref(name) } }
}

function text(): OpenApiPart {
  return { 'text/plain': { schema: { type: 'string' } } }
}

function query(name: string, schema: OpenApiPart): OpenApiPart {
  return { name, in: 'query', schema }
}
