import { type PacedFetchOptions, pacedFetch } from '@sluice/overload'
import { FakeClock, seededRandom } from '@sluice/testkit'

type Shape = 'fixed' | 'sliding' | 'bucket'

/** Times of a response in ms: until the window ends, the oldest request leaves it, or the bucket is full, and the rest. */
interface ResponseTimes {
  readonly resetMs: number
  /** Time until the next request would be accepted. */
  readonly retryMs: number
  /** Epoch time. */
  readonly wallMs: number
}

/** Writes the fields of a response. `left`: units that are left. */
export type Announce = (left: number, times: ResponseTimes) => Record<string, string>

export interface Scene {
  readonly shape: Shape
  readonly limit: number
  readonly windowMs: number
  /** Size of a bucket. Default: the limit. */
  readonly burst?: number
  /** Start of the first fixed window before the first request, in ms. Default: 0. */
  readonly phaseMs?: number
  readonly announce?: Announce | undefined
  readonly callers: number
  /** Processes, each with callers of its own. Default: 1. */
  readonly processes?: number
  readonly minutes: number
  readonly latencyMs?: number
  readonly seed?: number
  readonly options?: PacedFetchOptions
  /** Options of one process. */
  readonly optionsOf?: (clock: FakeClock, process: number) => PacedFetchOptions
  /** Lets real work between two turns of virtual time end. */
  readonly settle?: () => Promise<void>
}

export interface Played {
  accepted: number
  refused: number
  /** Calls that were rejected by the client. */
  rejected: number
  /** Responses of each caller. */
  readonly perCaller: number[]
  /** What an upstream of this shape can accept at most. */
  readonly most: number
}

/** A clock that moves from timer to timer. */
export class EventClock extends FakeClock {
  #due: number[] = []

  override after(ms: number, run: () => void): () => void {
    this.#due.push(this.now() + Math.max(0, ms))
    return super.after(ms, run)
  }

  advanceToNext(endMs: number): void {
    this.#due = this.#due.filter((due) => due > this.now())
    const next = Math.min(endMs, ...this.#due)
    this.advance(Math.max(0, next - this.now()))
  }
}

/** An upstream with one limit, in virtual time. */
class VirtualUpstream {
  readonly #scene: Scene
  readonly #clock: FakeClock
  #log: number[] = []
  #windowAtMs: number
  #inWindow = 0
  #tokens: number
  #filledAtMs = 0
  readonly times: number[] = []

  constructor(scene: Scene, clock: FakeClock) {
    this.#scene = scene
    this.#clock = clock
    this.#windowAtMs = -(scene.phaseMs ?? 0)
    this.#tokens = scene.burst ?? scene.limit
  }

  answer(): Response {
    const now = this.#clock.now()
    const { announce } = this.#scene
    const isAccepted = this.#takes(now)
    if (isAccepted) this.times.push(now)
    const [left, resetMs] = this.#state(now)
    const { shape, limit, windowMs } = this.#scene
    const retryMs = shape === 'bucket' ? ((1 - this.#tokens) * windowMs) / limit : resetMs
    const headers = announce?.(left, { resetMs, retryMs, wallMs: this.#clock.wall() }) ?? {}
    return new Response(null, { status: isAccepted ? 200 : 429, headers })
  }

  #takes(now: number): boolean {
    const { shape, limit, windowMs } = this.#scene
    if (shape === 'fixed') {
      if (now >= this.#windowAtMs + windowMs) {
        this.#windowAtMs += Math.floor((now - this.#windowAtMs) / windowMs) * windowMs
        this.#inWindow = 0
      }
      if (this.#inWindow >= limit) return false
      this.#inWindow++
      return true
    }
    if (shape === 'sliding') {
      this.#log = this.#log.filter((at) => at > now - windowMs)
      if (this.#log.length >= limit) return false
      this.#log.push(now)
      return true
    }
    this.#fill(now)
    if (this.#tokens < 1 - 1e-9) return false
    this.#tokens--
    return true
  }

  #fill(now: number): void {
    const { limit, windowMs, burst = limit } = this.#scene
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) * limit) / windowMs)
    this.#filledAtMs = now
  }

  /** Units that are left, and ms until the window ends, the next unit is available, or the bucket is full. */
  #state(now: number): [left: number, resetMs: number] {
    const { shape, limit, windowMs, burst = limit } = this.#scene
    if (shape === 'fixed') return [limit - this.#inWindow, this.#windowAtMs + windowMs - now]
    if (shape === 'sliding') return [limit - this.#log.length, (this.#log[0] ?? now) + windowMs - now]
    return [Math.floor(this.#tokens + 1e-9), ((burst - this.#tokens) * windowMs) / limit]
  }
}

/** Plays callers who call again as soon as they have a response. */
export async function play(scene: Scene): Promise<Played> {
  const clock = new EventClock()
  const random = seededRandom(scene.seed ?? 1)
  const upstream = new VirtualUpstream(scene, clock)
  const endMs = scene.minutes * 60_000
  const { limit, windowMs, burst = limit, callers, latencyMs = 100, processes = 1 } = scene
  const perCaller = Array.from({ length: callers }, () => 0)
  const most = (endMs / windowMs) * limit + (scene.shape === 'bucket' ? burst : 0)
  const played: Played = { accepted: 0, refused: 0, rejected: 0, perCaller, most }
  const later = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  const send = async (_url: string): Promise<Response> => {
    const oneWayMs = latencyMs * (0.25 + 0.5 * random.next())
    await later(oneWayMs)
    if (clock.now() >= endMs) return new Response()
    const response = upstream.answer()
    if (response.status === 200) played.accepted++
    else played.refused++
    await later(oneWayMs)
    return response
  }
  const fetches = Array.from({ length: processes }, (_, process) =>
    pacedFetch(send as typeof fetch, {
      clock,
      random: random.next,
      maxWaitMs: '5m',
      ...scene.options,
      ...scene.optionsOf?.(clock, process),
    }),
  )
  const loop = async (caller: number): Promise<void> => {
    while (clock.now() < endMs) {
      try {
        const { status } = await fetches[caller % processes]('https://api.example/')
        if (status === 200) perCaller[caller]++
      } catch {
        played.rejected++
        await later(1_000)
      }
    }
  }
  const loops = perCaller.map((_, caller) => loop(caller))
  const turn = scene.settle ?? (() => new Promise<void>((resolve) => setImmediate(resolve)))
  while (clock.now() < endMs) {
    await turn()
    clock.advanceToNext(endMs)
  }
  const result = { ...played }
  for (const fetch of fetches) await fetch.close()
  void loops
  return result
}
