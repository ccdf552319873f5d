import type { Clock } from '@sluice/limiter-core'
import { TimerHeap } from '../timer-heap.ts'

/**
 * A process with one thread, on virtual time: each turn of its event loop runs the timers that are due, then the
 * callbacks of all events that are ready. Timers and events wait while a callback works.
 */
export class EventLoopModel implements Clock {
  readonly #timers = new TimerHeap()
  readonly #events = new TimerHeap()
  #nowMs = 0
  /** Milliseconds of work until now. */
  workedMs = 0

  now(): number {
    return this.#nowMs
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#nowMs
  }

  after(ms: number, run: () => void): () => void {
    const timer = this.#timers.add(this.#nowMs + Math.max(0, ms), run)
    return () => this.#timers.cancel(timer)
  }

  /** Number of timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size
  }

  /** Runs `run` in the first turn after an event at `atMs`, such as the arrival of a request. */
  on(atMs: number, run: () => void): void {
    this.#events.add(atMs, run)
  }

  /** Called by callbacks: works for some milliseconds, in which nothing else runs. */
  work(ms: number): void {
    this.#nowMs += ms
    this.workedMs += ms
  }

  /** Runs turns until `untilMs`; the last one may end later. */
  run(untilMs: number): void {
    while (this.#nowMs < untilMs) {
      const ready = [...due(this.#timers, this.#nowMs), ...due(this.#events, this.#nowMs)]
      for (const run of ready) run()
      if (ready.length > 0) continue
      this.#nowMs = Math.min(untilMs, this.#timers.firstMs, this.#events.firstMs)
    }
  }
}

function due(timers: TimerHeap, now: number): (() => void)[] {
  const runs: (() => void)[] = []
  for (let timer = timers.takeUntil(now); timer; timer = timers.takeUntil(now)) runs.push(timer.run)
  return runs
}
