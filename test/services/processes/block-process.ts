/** Blocks this process for the given time: incoming data stays unread, and timers fire late. */
export function blockProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
