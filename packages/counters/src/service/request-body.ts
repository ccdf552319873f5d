import type { IncomingMessage } from 'node:http'
import { TextDecoder } from 'node:util'
import type { Clock } from '@sluice/limiter-core'
import { requestBytes } from './request-bytes.ts'
import { badRequest } from './request-target.ts'
import { ServiceProblem } from './service-problem.ts'

/** Fields of a body. Only own fields of the JSON object count, so `__proto__` is a field like any other. */
export type BodyFields = ReadonlyMap<string, unknown>

const MEDIA_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i
const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Matches each string in valid JSON, and the colon after it if it is a key. */
const STRINGS = /"(?:[^"\\]|\\.)*"([ \t\r\n]*:)?/g

/**
 * Returns the fields of the JSON object in a body; none if the body is empty. Rejects with a problem unless each field
 * is known and occurs once. If a parser has already read the body, its result in `req.body` is used.
 */
export async function requestFields(
  req: IncomingMessage & { readonly body?: unknown },
  clock: Clock,
  known: readonly string[],
): Promise<BodyFields> {
  checkMediaType(req)
  if (!req.readableDidRead) return fieldsOf(await requestBytes(req, clock), req, known)
  const { body } = req
  if (body === undefined) throw new ServiceProblem(500, 'body-read-before')
  if (Buffer.isBuffer(body)) return fieldsOf(body, req, known)
  return typeof body === 'string' ? fieldsOf(Buffer.from(body), req, known) : checkedFields(body, known)
}

function checkMediaType({ headers }: IncomingMessage): void {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers
  if (type !== undefined && !MEDIA_TYPE.test(type)) throw unsupported('content-type: expected application/json')
  if (encoding.toLowerCase() !== 'identity') throw unsupported('content-encoding: expected no encoding', 'identity')
}

function unsupported(detail: string, accepted?: string): ServiceProblem {
  const headers = accepted === undefined ? { Accept: 'application/json' } : { 'Accept-Encoding': accepted }
  return new ServiceProblem(415, 'unsupported-media-type', { detail, headers })
}

function fieldsOf(bytes: Buffer, { headers }: IncomingMessage, known: readonly string[]): BodyFields {
  if (bytes.length === 0) return new Map()
  if (headers['content-type'] === undefined) throw unsupported('content-type: expected application/json, received none')
  const text = decodedUtf8(bytes)
  const fields = checkedFields(parsedJson(text), known)
  if (keysIn(text) > keysOf(fields))
    throw badRequest('body: expected unique names, received one twice or a nested object')
  return fields
}

function checkedFields(value: unknown, known: readonly string[]): BodyFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('body: expected a JSON object')
  const fields = new Map(Object.entries(value))
  for (const name of fields.keys()) {
    if (!known.includes(name)) throw badRequest(`body: expected one of ${known.join(', ')}, received an unknown field`)
  }
  return fields
}

function decodedUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw badRequest('body: expected valid UTF-8')
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('body: expected valid JSON')
  }
}

/**
 * Returns the number of keys in a JSON text. `JSON.parse` keeps only the last of two fields with the same name, and the
 * increment in the first one would be lost.
 */
function keysIn(text: string): number {
  let keys = 0
  for (const [, colon] of text.matchAll(STRINGS)) if (colon !== undefined) keys++
  return keys
}

/** Returns the number of keys in the fields and in the objects they contain; a body has no deeper levels. */
function keysOf(fields: BodyFields): number {
  let keys = fields.size
  for (const value of fields.values()) if (typeof value === 'object' && value !== null) keys += recordKeys(value)
  return keys
}

function recordKeys(value: object): number {
  return Array.isArray(value) ? 0 : Object.keys(value).length
}
