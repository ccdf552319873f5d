/** Values in equal steps of time. */
interface Steps {
  readonly startAt: number
  readonly stepMs: number
}

/**
 * Returns the number of steps by which an update starts after the `length` displayed ones. Returns undefined if the
 * update does not continue them: the server has restarted, or updates were missed.
 */
export function shiftOf(shown: Steps, update: Steps, length: number): number | undefined {
  const shift = (update.startAt - shown.startAt) / update.stepMs
  const continues = shown.stepMs === update.stepMs && Number.isInteger(shift) && shift >= 0 && shift <= length
  return continues ? shift : undefined
}
