/** This process does nothing for so long: what comes meanwhile lies unread, and its timers are late. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
