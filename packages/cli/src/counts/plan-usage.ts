import type { ClientIds } from './client-ids.ts'
import { ClientUsage } from './client-usage.ts'

/** Requests, denials and clients of one plan of a policy. */
export class PlanUsage {
  requests = 0
  denied = 0
  readonly clients: ClientUsage

  /** `ids`: the clients of the log. */
  constructor(ids: ClientIds) {
    this.clients = new ClientUsage(ids)
  }

  /** Records a request. `used`: units of the client in the current window. */
  record(key: string, isDenied: boolean, used: number): void {
    this.requests++
    if (isDenied) this.denied++
    this.clients.record(key, isDenied, used)
  }
}
