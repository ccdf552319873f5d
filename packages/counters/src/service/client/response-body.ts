import type { BatchReceipt, CounterReading, CounterReceipt } from '@sluice/fleet/backend'
import { read } from '@sluice/fleet/backend'
import { malformedResponse } from './response-error.ts'

const { fields, firstOf, oneOf, optional, string } = read
const number = read.checked<number>('a finite number', Number.isFinite)
const status = oneOf('ok', 'duplicate')
const durable = optional(oneOf(true, false))
const updatedAt = (value: unknown): number | undefined => (value === null ? undefined : number(value))
const reading = fields<CounterReading>({ id: string, value: number, version: number, updatedAt })
const receipt = fields({ status, durable, value: number })
const batchReceipt = fields({ status, durable, values: valuesIn })
const readings = fields({ counters: firstOf(Number.POSITIVE_INFINITY, reading) })
const sum = fields({ sum: number })

// each of these functions throws `SLUICE_COUNTERS_UNAVAILABLE` for an unexpected body
export function receiptIn(text: string): CounterReceipt {
  const { status, durable = false, value } = bodyIn(text, receipt)
  return { value, durable, counted: status === 'ok' }
}

export function batchReceiptIn(text: string): BatchReceipt {
  const { status, durable = false, values } = bodyIn(text, batchReceipt)
  return { values, durable, counted: status === 'ok' }
}

export function readingIn(text: string): CounterReading {
  return bodyIn(text, reading)
}

export function readingsIn(text: string): readonly CounterReading[] {
  return bodyIn(text, readings).counters
}

export function sumIn(text: string): number {
  return bodyIn(text, sum).sum
}

function valuesIn(value: unknown): Map<string, number> {
  return new Map(Object.entries(read.object(value)).map(([id, one]) => [id, number(one)]))
}

function bodyIn<T>(text: string, reader: read.Reader<T>): T {
  try {
    return reader(JSON.parse(text))
  } catch {
    throw malformedResponse()
  }
}
