import type { Decision, ObservedCap, ObservedRequest, Observer } from '@sluice/limiter-core'

export interface WatchedRequest {
  readonly method: string | undefined
  readonly route: string | undefined
  /** `typeof` the framework's own. */
  readonly type: string
}

/** An observer that records events. */
export class Watcher implements Observer {
  readonly decisions: Decision[] = []
  /** The request data of decisions and acquired permits, without references to the requests. */
  readonly requests: WatchedRequest[] = []
  readonly events: { readonly name: string; readonly data: Readonly<Record<string, unknown>> }[] = []
  acquired = 0
  released = 0
  denied = 0
  /** Clients that left before they received a permit or a denial. */
  left = 0
  /** The largest and the smallest number of permits held at once; never below zero. */
  mostHeld = 0
  fewestHeld = 0

  get held(): number {
    return this.acquired - this.released
  }

  decided(_key: string, decision: Decision, request?: ObservedRequest): void {
    this.decisions.push(decision)
    this.requests.push(watched(request))
  }

  permitAcquired(_key?: string, cap?: ObservedCap): void {
    this.requests.push(watched(cap?.request))
    this.acquired++
    this.mostHeld = Math.max(this.mostHeld, this.held)
  }

  permitReleased(): void {
    this.released++
    this.fewestHeld = Math.min(this.fewestHeld, this.held)
  }

  capDenied(_key?: string, cap?: ObservedCap): void {
    this.requests.push(watched(cap?.request))
    this.denied++
  }

  capLeft(): void {
    this.left++
  }

  event(name: string, data: Readonly<Record<string, unknown>>): void {
    this.events.push({ name, data })
  }

  /** Returns how often an event was reported. */
  count(name: string): number {
    return this.events.filter((event) => event.name === name).length
  }
}

function watched(request: ObservedRequest | undefined): WatchedRequest {
  return { method: request?.method, route: request?.route, type: typeof request?.request }
}
