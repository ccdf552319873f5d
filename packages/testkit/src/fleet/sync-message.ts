import type { SyncAnswer, SyncBatch } from '@sluice/fleet/sync'

/** Copies a batch in transit, independent of later changes to its units, with its instants shifted by `laterMs`. */
export function sentBatch(batch: SyncBatch, laterMs: number): SyncBatch {
  const takes = batch.takes.map(({ key, counter, known, takes: units }) => ({
    key,
    counter,
    known,
    takes: units.map((value, at) => (at % 2 === 0 ? value + laterMs : value)),
  }))
  return { ...batch, takes }
}

/** Copies the reply to a batch, with the instants in its cells shifted by `laterMs`. */
export function sentAnswer({ takes }: SyncBatch, answer: SyncAnswer, laterMs: number): SyncAnswer {
  const cells = answer.cells.map((one, index) => {
    const { instants } = takes[index].counter.compiled
    if (one instanceof Error) return one
    return one.map((cell, at) => (cell !== 0 && instants?.includes(at) ? cell + laterMs : cell))
  })
  return { ...answer, cells }
}
