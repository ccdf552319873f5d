import { SketchError } from '@sluice/sketches'

/** What a ledger keeps of a format: an object in JSON. Throws `SLUICE_BAD_BYTES` for all else. */
export function keptFormat(text: string): Readonly<Record<string, unknown>> {
  try {
    const kept: unknown = JSON.parse(text)
    if (typeof kept === 'object' && kept !== null) return kept as Record<string, unknown>
  } catch {
    // as bad as any other text
  }
  throw new SketchError('SLUICE_BAD_BYTES', 'got a format that nothing wrote, expected that of stored sketches')
}
