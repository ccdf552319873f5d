import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { PolicyReport, ProcessReport } from './process-report.ts'
import { readReport } from './report-reader.ts'

/** Changes whenever the meaning of a report does: others than these two sides know each other's. */
const VERSION = 1
/** Nobody sends more; what channels carry unless they are told otherwise is twice that. */
const MOST_MESSAGE_BYTES = 131_072
const MOST_TEXT_BYTES = 1_048_576

/**
 * A report as it goes over a channel: a byte of its version, then deflated JSON. Without its top keys where those make it
 * too large; undefined where it still is.
 */
export function reportMessage(report: ProcessReport): Uint8Array | undefined {
  return packed(report) ?? packed({ ...report, policies: report.policies.map(withoutTop) })
}

function withoutTop({ topAllowed, topDenied, ...policy }: PolicyReport): PolicyReport {
  return policy
}

function packed(report: ProcessReport): Uint8Array | undefined {
  const body = deflateRawSync(JSON.stringify(report), { level: 1 })
  if (body.length >= MOST_MESSAGE_BYTES) return undefined
  return Buffer.concat([Buffer.of(VERSION), body])
}

/** Throws for another version, and for whatever is no report. */
export function reportOf(message: Uint8Array): ProcessReport {
  if (message[0] !== VERSION) throw new Error(`expected ${VERSION}, received version ${message[0]}`)
  if (message.length > MOST_MESSAGE_BYTES) throw new Error(`got ${message.length} bytes`)
  const text = inflateRawSync(message.subarray(1), { maxOutputLength: MOST_TEXT_BYTES }).toString()
  return readReport(JSON.parse(text))
}
