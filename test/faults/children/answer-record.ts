import type { Decision, MaybePromise } from '@sluice/limiter-core'
import { StallWatch } from './stall-watch.ts'

/** Time after the last request within which every decision must be answered. */
const PATIENCE_MS = 1_000

/** The source of a request. */
interface Question {
  readonly policy: 'guarded' | 'counter'
  readonly key: string
  /** State of the breaker when the request was made. */
  readonly breaker: string
}

/** One decision. Times are in epoch milliseconds. */
export interface Sample extends Question {
  readonly at: number
  readonly endedAt: number
  /** Time spent in the limiter, without stalls of the process. */
  readonly ms: number
  readonly allowed: boolean
  readonly counted: boolean
}

export interface Answers {
  readonly samples: readonly Sample[]
  /** Number of decisions that rejected or threw. */
  readonly rejected: number
  /** Number of decisions without an answer a second after the last request. */
  readonly pending: number
  readonly longestStallMs: number
}

interface Noted extends Question {
  readonly from: number
  readonly to: number
  readonly allowed: boolean
  readonly counted: boolean
}

/** Makes requests and records each decision. */
export class AnswerRecord {
  readonly #watch = new StallWatch()
  readonly #noted: Noted[] = []
  #pending = 0
  #rejected = 0

  ask(take: () => MaybePromise<Decision>, question: Question): void {
    const from = performance.now()
    const note = ({ allowed, counted }: Decision): void => {
      this.#noted.push({ ...question, from, to: performance.now(), allowed, counted })
    }
    try {
      const decision = take()
      if ('then' in decision) this.#await(decision, note)
      else note(decision)
    } catch {
      this.#rejected++
    }
  }

  /** Waits for requests in flight. */
  async end(): Promise<Answers> {
    const until = performance.now() + PATIENCE_MS
    while (this.#pending > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
    this.#watch.stop()
    const samples = this.#noted.map(({ from, to, ...told }) => ({
      ...told,
      at: performance.timeOrigin + from,
      endedAt: performance.timeOrigin + to,
      ms: to - from - this.#watch.within(from, to),
    }))
    return { samples, rejected: this.#rejected, pending: this.#pending, longestStallMs: this.#watch.longestMs }
  }

  #await(decision: Promise<Decision>, note: (come: Decision) => void): void {
    this.#pending++
    const failed = (): void => {
      this.#rejected++
    }
    const ended = (): void => {
      this.#pending--
    }
    decision.then(note, failed).finally(ended)
  }
}
