import {
  type AlgorithmName,
  type Answer,
  type Backend,
  type Charge,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  type Decision,
  GroupedBackend,
  type Moment,
  markInfallible,
  type Observer,
  type RequestBackend,
} from '@sluice/limiter-core/backend'
import type { HashRing } from './hash-ring.ts'

/** A counter of one policy on several backends, each of which counts the keys that the ring assigns to it. */
class RingCounter implements Counter<Answer> {
  readonly compiled: CompiledPolicy
  readonly name: string
  readonly #ring: Pick<HashRing, 'serverOf'>
  readonly #counters: ReadonlyMap<string, Counter<Answer>>

  constructor(ring: Pick<HashRing, 'serverOf'>, counters: ReadonlyMap<string, Counter<Answer>>) {
    const [first] = counters.values()
    this.compiled = first.compiled
    this.name = first.name
    this.#ring = ring
    this.#counters = counters
  }

  take(key: string, cost: number, moment?: Moment): Decision {
    return this.on(this.#ring.serverOf(key)).take(key, cost, moment)
  }

  on(server: string): Counter<Answer> {
    return this.#counters.get(server) as Counter<Answer>
  }

  close(): void {
    for (const counter of this.#counters.values()) counter.close?.()
  }
}

/** A backend and charges that use its counters. */
interface Route {
  readonly backend: RequestBackend
  readonly own: readonly Charge[]
}

/**
 * Distributes keys over synchronous backends by consistent hashing. Backends have separate clocks and fail
 * independently. A request with keys of several backends charges one backend after the other, and refunds the earlier
 * ones if a later one denies.
 */
export class RingBackend implements Backend<Answer> {
  readonly name: string
  readonly synchronous = true
  readonly identity: object | undefined
  readonly algorithms: readonly AlgorithmName[] | undefined
  readonly #ring: Pick<HashRing, 'serverOf'>
  readonly #backends: ReadonlyMap<string, Backend<Answer>>

  /** `backends`: one or more, by server name in the ring. */
  constructor(ring: Pick<HashRing, 'serverOf'>, backends: ReadonlyMap<string, Backend<Answer>>) {
    const [first] = backends.values()
    this.name = first.name
    this.identity = first.identity
    this.algorithms = first.algorithms
    this.#ring = ring
    this.#backends = backends
    markInfallible(this)
  }

  open(compiled: CompiledPolicy, name: string, isOverride?: boolean): RingCounter {
    const counters = new Map<string, Counter<Answer>>()
    try {
      for (const [server, backend] of this.#backends) counters.set(server, backend.open(compiled, name, isOverride))
    } catch (error) {
      for (const counter of counters.values()) counter.close?.()
      throw error
    }
    return new RingCounter(this.#ring, counters)
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Answer {
    const { backend, own } = this.#routeOf(charges)
    return backend.takeAll(own, moment) as Answer
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Answer {
    const { backend, own } = this.#routeOf(charges)
    return backend.peekAll(own, moment) as Answer
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const { backend, own } = this.#routeOf(charges)
    return backend.adjustAll(own, takenAt, moment) as Answer
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    const { backend, own } = this.#routeOf(keys.map((counted) => ({ ...counted, cost: 0 })))
    await backend.resetAll(own)
  }

  observe(observer: Observer): () => void {
    const stops = [...this.#backends.values()].flatMap((backend) => backend.observe?.(observer) ?? [])
    return () => {
      for (const stop of stops) stop()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#backends.values()].map((backend) => backend.close?.()))
  }

  #routeOf(charges: readonly Charge[]): Route {
    const servers = charges.map(({ key }) => this.#ring.serverOf(key))
    const own = charges.map((charge, index) => ({
      ...charge,
      counter: (charge.counter as RingCounter).on(servers[index]),
    }))
    const backends = servers.map((server) => this.#backends.get(server) as Backend<Answer>)
    if (backends.every((backend) => backend === backends[0])) return { backend: backends[0], own }
    const backendOf = new Map(own.map(({ counter }, index) => [counter, backends[index]] as const))
    return { backend: new GroupedBackend(backendOf), own }
  }
}
