/** A timer of a clock that is moved by hand. */
export interface Timer {
  readonly dueMs: number
  readonly order: number
  readonly run: () => void
  isCancelled: boolean
}

const MIN_SWEPT = 64

/** Timers in the order in which they are due, then in the order in which they were set: a binary heap. */
export class TimerHeap {
  #heap: Timer[] = []
  #orders = 0
  #cancelled = 0

  /** Number of timers that have neither been taken nor cancelled. */
  get size(): number {
    return this.#heap.length - this.#cancelled
  }

  /** Time of the first timer, which may have been cancelled; infinity if there is none. */
  get firstMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY
  }

  add(dueMs: number, run: () => void): Timer {
    const timer = { dueMs, order: this.#orders++, run, isCancelled: false }
    this.#heap.push(timer)
    this.#rise(this.#heap.length - 1)
    return timer
  }

  /** The timer stays in the heap and is skipped when it is due, unless most timers are cancelled. */
  cancel(timer: Timer): void {
    if (timer.isCancelled) return
    timer.isCancelled = true
    this.#cancelled++
    if (this.#cancelled < MIN_SWEPT || this.#cancelled < this.size) return
    // in order is a heap as well
    this.#heap = this.#heap.filter(({ isCancelled }) => !isCancelled).sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#cancelled = 0
  }

  /** Takes the first one that is due by `untilMs`. */
  takeUntil(untilMs: number): Timer | undefined {
    while (this.#heap.length > 0 && this.#heap[0].dueMs <= untilMs) {
      const timer = this.#takeFirst()
      if (!timer.isCancelled) {
        // to cancel it from now on changes nothing
        timer.isCancelled = true
        return timer
      }
      this.#cancelled--
    }
    return undefined
  }

  #takeFirst(): Timer {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop() as Timer
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    return first
  }

  #rise(from: number): void {
    const heap = this.#heap
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(heap[at], heap[above])) return
      this.#swap(at, above)
      at = above
    }
  }

  #sink(): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const right = left + 1
      let first = at
      if (left < heap.length && isBefore(heap[left], heap[first])) first = left
      if (right < heap.length && isBefore(heap[right], heap[first])) first = right
      if (first === at) return
      this.#swap(at, first)
      at = first
    }
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap
    const timer = heap[one]
    heap[one] = heap[other]
    heap[other] = timer
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)
}
