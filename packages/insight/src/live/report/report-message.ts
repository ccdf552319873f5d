import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { PolicyReport, ProcessReport } from './process-report.ts'
import { readReport } from './report-reader.ts'

/** Version of the report format. Processes ignore messages of other versions. */
const VERSION = 1
/** Maximum size of a message: half of what channels accept by default. */
const MAX_MESSAGE_BYTES = 131_072
const MAX_TEXT_BYTES = 1_048_576

/**
 * Encodes a report: one version byte, then deflated JSON. Leaves out top keys if they would make the message too large.
 * Returns undefined if it is still too large.
 */
export function reportMessage(report: ProcessReport): Uint8Array | undefined {
  return packed(report) ?? packed({ ...report, policies: report.policies.map(withoutTop) })
}

function withoutTop({ topAllowed, topDenied, ...policy }: PolicyReport): PolicyReport {
  return policy
}

function packed(report: ProcessReport): Uint8Array | undefined {
  const body = deflateRawSync(JSON.stringify(report), { level: 1 })
  if (body.length >= MAX_MESSAGE_BYTES) return undefined
  return Buffer.concat([Buffer.of(VERSION), body])
}

/** Decodes a report. Throws for another version and for malformed messages. */
export function reportOf(message: Uint8Array): ProcessReport {
  if (message[0] !== VERSION) throw new Error(`expected version ${VERSION}, received ${message[0]}`)
  if (message.length > MAX_MESSAGE_BYTES)
    throw new Error(`expected at most ${MAX_MESSAGE_BYTES} bytes, received ${message.length}`)
  const text = inflateRawSync(message.subarray(1), { maxOutputLength: MAX_TEXT_BYTES }).toString()
  return readReport(JSON.parse(text))
}
