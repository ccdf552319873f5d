import type { BatchReceipt, CounterReading, CounterReceipt } from '@sluice/limiter-core'
import { malformedResponse } from './response-error.ts'

type Body = Readonly<Record<string, unknown>>

// each of these functions throws `SLUICE_COUNTERS_UNAVAILABLE` for an unexpected body
export function receiptIn(text: string): CounterReceipt {
  const body = bodyIn(text)
  return { value: numberIn(body.value), ...confirmation(body) }
}

export function batchReceiptIn(text: string): BatchReceipt {
  const body = bodyIn(text)
  const pairs = Object.entries(recordIn(body.values)).map(([id, value]) => [id, numberIn(value)] as const)
  return { values: new Map(pairs), ...confirmation(body) }
}

export function readingIn(text: string): CounterReading {
  return readingOf(bodyIn(text))
}

export function readingsIn(text: string): readonly CounterReading[] {
  const { counters } = bodyIn(text)
  if (!Array.isArray(counters)) throw malformedResponse()
  return counters.map((counter) => readingOf(recordIn(counter)))
}

export function sumIn(text: string): number {
  return numberIn(bodyIn(text).sum)
}

function confirmation({ status, durable = false }: Body): { readonly durable: boolean; readonly counted: boolean } {
  if ((status !== 'ok' && status !== 'duplicate') || typeof durable !== 'boolean') throw malformedResponse()
  return { durable, counted: status === 'ok' }
}

function readingOf({ id, value, version, updatedAt }: Body): CounterReading {
  if (typeof id !== 'string') throw malformedResponse()
  const writtenAt = updatedAt === null ? undefined : numberIn(updatedAt)
  return { id, value: numberIn(value), version: numberIn(version), updatedAt: writtenAt }
}

function bodyIn(text: string): Body {
  try {
    return recordIn(JSON.parse(text))
  } catch {
    throw malformedResponse()
  }
}

function recordIn(value: unknown): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body
  throw malformedResponse()
}

function numberIn(value: unknown): number {
  if (typeof value === 'number') return value
  throw malformedResponse()
}
