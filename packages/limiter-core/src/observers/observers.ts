import type {
  CapHandle,
  Decision,
  ObservedCap,
  ObservedLimiter,
  ObservedRequest,
  Observer,
  ObserverEvent,
  Policy,
} from '../contracts.ts'
import { messageOf, SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { LimiterWarnings } from './limiter-warnings.ts'

const HOOKS = [
  'decided',
  'charged',
  'permitAcquired',
  'permitReleased',
  'capDenied',
  'capLeft',
  'backendAnswered',
  'limiterOpened',
  'limiterClosed',
  'capOpened',
  'capClosed',
  'event',
] as const

/** Calls all observers of one limiter. An observer that throws is removed, counted and warned about. */
export class Observers implements Required<Omit<Observer, 'largestLimit'>> {
  /** Number of observers that were removed because they threw. */
  dropped = 0
  any = false
  readonly #warnings: LimiterWarnings
  readonly #added = new Set<{ readonly observer: Observer }>()
  #watching: readonly Observer[] = []

  /** `names` returns the names of the limits for warnings. Default: none. Throws `SLUICE_BAD_OPTION`. */
  constructor(observers: readonly Observer[] = [], names: () => readonly string[] = () => []) {
    if (!Array.isArray(observers)) {
      const message = `observers: expected an array of observers, received ${kindOf(observers)}`
      throw new SluiceError('SLUICE_BAD_OPTION', message)
    }
    for (const [index, one] of observers.entries()) checkHooks(`observers[${index}]`, one)
    this.#watchBy(observers)
    this.#warnings = new LimiterWarnings(names)
  }

  /** Adds an observer. It is called once, until all functions that were returned for it have been called. */
  add(observer: Observer): () => void {
    const added = { observer }
    this.#added.add(added)
    if (!this.#watching.includes(observer)) this.#watchBy([...this.#watching, observer])
    return () => {
      this.#added.delete(added)
      for (const other of this.#added) if (other.observer === observer) return
      this.#remove(observer)
    }
  }

  clear(): void {
    this.#added.clear()
    this.#watchBy([])
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    this.#notify((observer) => observer.decided?.(key, decision, request))
  }

  charged(key: string, units: number, policy: Policy): void {
    this.#notify((observer) => observer.charged?.(key, units, policy))
  }

  permitAcquired(key: string, cap: ObservedCap): void {
    this.#notify((observer) => observer.permitAcquired?.(key, cap))
  }

  permitReleased(key: string, heldMs: number, cap: ObservedCap): void {
    this.#notify((observer) => observer.permitReleased?.(key, heldMs, cap))
  }

  capDenied(key: string, cap: ObservedCap): void {
    this.#notify((observer) => observer.capDenied?.(key, cap))
  }

  capLeft(key: string, cap: ObservedCap): void {
    this.#notify((observer) => observer.capLeft?.(key, cap))
  }

  backendAnswered(backend: string, tookMs: number): void {
    this.#notify((observer) => observer.backendAnswered?.(backend, tookMs))
  }

  limiterOpened(limiter: ObservedLimiter): void {
    this.#notify((observer) => observer.limiterOpened?.(limiter))
  }

  limiterClosed(limiter: ObservedLimiter): void {
    this.#notify((observer) => observer.limiterClosed?.(limiter))
  }

  capOpened(cap: CapHandle): void {
    this.#notify((observer) => observer.capOpened?.(cap))
  }

  capClosed(cap: CapHandle): void {
    this.#notify((observer) => observer.capClosed?.(cap))
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    this.#notify((observer) => observer.event?.(name, data))
  }

  #remove(observer: Observer): void {
    this.#watchBy(this.#watching.filter((other) => other !== observer))
  }

  #watchBy(observers: readonly Observer[]): void {
    this.#watching = observers
    this.any = observers.length > 0
  }

  #notify(call: (observer: Observer) => void): void {
    for (const observer of this.#watching) {
      try {
        call(observer)
      } catch (error) {
        this.#remove(observer)
        this.dropped++
        const why = messageOf(error)
        this.#warnings.once('SLUICE_OBSERVER_DROPPED', () => `an observer threw and is no longer called: ${why}`)
      }
    }
  }
}

/** Throws `SLUICE_BAD_OPTION` if an observer has none of the methods, for example because its only one is misspelt. */
function checkHooks(option: string, observer: Observer | null | undefined): void {
  if (HOOKS.some((hook) => typeof observer?.[hook] === 'function')) return
  const expected = `an observer with at least one of the methods ${HOOKS.join(', ')}`
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${kindOf(observer)}`)
}
