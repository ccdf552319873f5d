import { type AdaptiveThrottleOptions, adaptiveThrottle } from '@sluice/overload'
import { FakeClock, type SeededRandom, seededRandom } from '@sluice/testkit'

/** How an upstream limits requests: at most `perSecond`, in buckets of `burst`, or in fixed or sliding windows of 1 s. */
export interface Shape {
  readonly kind: 'bucket' | 'fixed' | 'sliding'
  readonly perSecond: number
  /** Default: 1, no two requests in less than 1 / `perSecond`. */
  readonly burst?: number
}

export interface Scene {
  readonly seed: number
  readonly seconds: number
  /** Calls per second of all clients together. */
  readonly calls: number
  readonly arrivals: 'steady' | 'poisson' | 'bursts'
  /** Calls of each burst. Default: 50. */
  readonly burst?: number
  readonly clients?: number
  readonly shape?: Shape
  /** Ms until the upstream has replied; with `jitter`, half of it is exponentially distributed. */
  readonly latencyMs: number
  readonly jitter?: boolean
  readonly refusal?: 429 | 503 | 'network'
  readonly retryAfter?: boolean
  /** Part of the requests that fail at random. */
  readonly failures?: number
  /** Seconds of the beginning and the end of times in which all requests are refused. */
  readonly outages?: readonly (readonly [number, number])[]
  /** In an outage, requests fail after this time instead. */
  readonly timeoutMs?: number | undefined
  readonly options?: AdaptiveThrottleOptions
}

/** Counts by second. */
export interface Played {
  readonly calls: number[]
  /** What the upstream would accept without any throttle. */
  readonly admitted: number[]
  readonly sent: number[]
  readonly accepted: number[]
  /** Calls that were rejected by the client. */
  readonly throttled: number[]
  /** Requests that were sent before the time for which the upstream had asked. */
  early: number
}

type Event = readonly [atMs: number, run: () => void]

/** Plays calls of one or several clients against a model of their upstream, in virtual time. */
export async function play(scene: Scene): Promise<Played> {
  const { seconds, outages = [], refusal = 503 } = scene
  const random = seededRandom(scene.seed)
  const clock = new FakeClock()
  const zeros = (): number[] => Array.from({ length: seconds }, () => 0)
  const played = { calls: zeros(), admitted: zeros(), sent: zeros(), accepted: zeros(), throttled: zeros(), early: 0 }
  const second = (): number => Math.min(seconds - 1, Math.floor(clock.now() / 1_000))
  const events = new EventQueue()
  const admits = limiterOf(scene.shape)
  const wouldAdmit = limiterOf(scene.shape)
  const isOut = (): boolean => outages.some(([from, to]) => clock.now() >= from * 1_000 && clock.now() < to * 1_000)

  const connect = (): ((url: string) => Promise<Response>) => {
    let askedUntilMs = Number.NEGATIVE_INFINITY
    return (_url) => {
      const now = clock.now()
      played.sent[second()]++
      if (now < askedUntilMs) played.early++
      const out = isOut()
      const isAccepted = !out && admits(now) && random.next() >= (scene.failures ?? 0)
      if (isAccepted) played.accepted[second()]++
      const part = scene.jitter ? 0.5 - 0.5 * Math.log(1 - random.next()) : 1
      const tookMs = out && scene.timeoutMs ? scene.timeoutMs : scene.latencyMs * part
      return new Promise((resolve, reject) => {
        events.add(now + tookMs, () => {
          if (isAccepted) resolve(new Response())
          else if (refusal === 'network' || (out && scene.timeoutMs)) reject(new TypeError('fetch failed'))
          else {
            if (scene.retryAfter) askedUntilMs = Math.max(askedUntilMs, clock.now() + 1_000)
            resolve(new Response(null, { status: refusal, headers: scene.retryAfter ? { 'retry-after': '1' } : {} }))
          }
        })
      })
    }
  }
  for (let client = 0; client < (scene.clients ?? 1); client++) {
    const fetch = adaptiveThrottle(connect(), { clock, random: random.next, ...scene.options } as never)
    const call = (): void => {
      played.calls[second()]++
      if (!isOut() && wouldAdmit(clock.now())) played.admitted[second()]++
      fetch('https://api.example/').catch((error: { code?: string }) => {
        if (error.code === 'SLUICE_THROTTLED') played.throttled[second()]++
      })
    }
    for (const atMs of arrivalsOf(scene, random)) events.add(atMs, call)
  }
  for (let event = events.next(); event && event[0] < seconds * 1_000; event = events.next()) {
    clock.advance(Math.max(0, event[0] - clock.now()))
    event[1]()
    await new Promise(setImmediate)
  }
  return played
}

export function total(counts: readonly number[], from = 0, to = counts.length): number {
  return counts.slice(from, to).reduce((sum, count) => sum + count, 0)
}

function* arrivalsOf({ calls, clients = 1, arrivals, burst = 50, seconds }: Scene, random: SeededRandom) {
  const everyMs = (1_000 * clients) / calls
  const size = arrivals === 'bursts' ? burst : 1
  let atMs = random.next() * everyMs * size
  while (atMs < seconds * 1_000) {
    for (let at = 0; at < size; at++) yield atMs + at * 0.1
    atMs += arrivals === 'poisson' ? -Math.log(1 - random.next()) * everyMs : everyMs * size
  }
}

/** Returns a function that returns whether the upstream accepts a request. */
function limiterOf(shape: Shape | undefined): (now: number) => boolean {
  if (!shape) return () => true
  const { kind, perSecond, burst = 1 } = shape
  if (kind === 'bucket') return bucketOf(perSecond, burst)
  // at most one request in a window that is longer
  const windowMs = Math.max(1_000, 1_000 / perSecond)
  const limit = Math.floor((perSecond * windowMs) / 1_000 + 1e-9)
  const accepted: number[] = []
  return (now) => {
    const fromMs = kind === 'fixed' ? Math.floor(now / windowMs) * windowMs : now - windowMs + 1e-6
    while (accepted.length > 0 && accepted[0] < fromMs) accepted.shift()
    if (accepted.length >= limit) return false
    accepted.push(now)
    return true
  }
}

function bucketOf(perSecond: number, burst: number): (now: number) => boolean {
  let tokens = burst
  let filledAtMs = 0
  return (now) => {
    tokens = Math.min(burst, tokens + ((now - filledAtMs) * perSecond) / 1_000)
    filledAtMs = now
    if (tokens < 1 - 1e-9) return false
    tokens--
    return true
  }
}

/** A binary heap of events, in the order of their times. */
class EventQueue {
  readonly #heap: Event[] = []

  add(atMs: number, run: () => void): void {
    const heap = this.#heap
    let at = heap.push([atMs, run]) - 1
    for (let up = (at - 1) >> 1; at > 0 && heap[up][0] > heap[at][0]; up = (at - 1) >> 1) {
      ;[heap[at], heap[up]] = [heap[up], heap[at]]
      at = up
    }
  }

  next(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!last || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ; ) {
      let least = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < heap.length && heap[below][0] < heap[least][0]) least = below
      }
      if (least === at) return first
      ;[heap[at], heap[least]] = [heap[least], heap[at]]
      at = least
    }
  }
}
