interface Listened {
  readonly runs: Set<() => void>
  readonly listener: () => void
}

// Node.js warns if one signal has more than ten listeners, so that all waits for a signal share one
const listened = new WeakMap<AbortSignal, Listened>()

/** Calls `run` when `signal` is aborted. Returns a function that cancels the call. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const { runs, listener } = listened.get(signal) ?? listenTo(signal)
  runs.add(run)
  return () => {
    runs.delete(run)
    if (runs.size > 0 || listened.get(signal)?.runs !== runs) return
    listened.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function listenTo(signal: AbortSignal): Listened {
  const runs = new Set<() => void>()
  const listener = (): void => {
    for (const run of [...runs]) run()
  }
  const made = { runs, listener }
  listened.set(signal, made)
  signal.addEventListener('abort', listener, { once: true })
  return made
}
