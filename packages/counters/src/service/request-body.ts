import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { requestBytes } from './request-bytes.ts'
import { badRequest } from './request-target.ts'
import { ServiceProblem } from './service-problem.ts'

/** The fields of a body, by its own names alone: `__proto__` is one like any other. */
export type BodyFields = ReadonlyMap<string, unknown>

const MEDIA_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i
const utf8 = new TextDecoder('utf-8', { fatal: true })
/** A string, and the colon behind it where it is a key. For texts that are JSON. */
const STRINGS = /"(?:[^"\\]|\\.)*"([ \t\r\n]*:)?/g

/**
 * The fields of a JSON object, each known and there once; none for no body. Rejects with a problem otherwise. A body that
 * a parser in front read already is taken as it left it in `req.body`.
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
  if (encoding.toLowerCase() !== 'identity') throw unsupported('content-encoding: expected none', 'identity')
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
  if (keysIn(text) > keysOf(fields)) throw badRequest('body: got a name twice in one object, or an object too many')
  return fields
}

function checkedFields(value: unknown, known: readonly string[]): BodyFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('body: expected an object')
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
    throw badRequest('body: got what is no UTF-8')
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('body: got what is no JSON')
  }
}

/** Of two fields of one name `JSON.parse` keeps the last, and what the first counts would be lost. */
function keysIn(text: string): number {
  let keys = 0
  for (const [, colon] of text.matchAll(STRINGS)) if (colon !== undefined) keys++
  return keys
}

/** Of the fields and of the records in them; nothing deeper is part of a body. */
function keysOf(fields: BodyFields): number {
  let keys = fields.size
  for (const value of fields.values()) if (typeof value === 'object' && value !== null) keys += recordKeys(value)
  return keys
}

function recordKeys(value: object): number {
  return Array.isArray(value) ? 0 : Object.keys(value).length
}
