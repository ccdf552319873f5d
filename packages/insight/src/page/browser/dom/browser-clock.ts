/** Returns ms since 1970 by the clock of this device. */
export function now(): number {
  return Date.now()
}

export function after(ms: number, run: () => void): void {
  setTimeout(run, ms)
}

export function every(ms: number, run: () => void): void {
  setInterval(run, ms)
}
