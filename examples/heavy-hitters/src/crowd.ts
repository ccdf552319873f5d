import { Agent, request } from 'node:http'
import type { Report } from './traffic-watch.ts'

/** Clients, the n-th of which sends 1/n as many requests as the first, with exact counts in a `Map`. */
export class Crowd {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #reached: Float64Array
  readonly #asked = new Map<string, number>()
  readonly #underWay = new Set<Promise<void>>()
  #sent = 0

  constructor(url: string, clients: number) {
    this.#url = url
    this.#reached = new Float64Array(clients)
    let sum = 0
    for (let client = 0; client < clients; client++) this.#reached[client] = sum += 1 / (client + 1)
  }

  /** Sends the requests due after `elapsedMs`. */
  ask(elapsedMs: number, aSecond: number): void {
    for (const due = (elapsedMs / 1_000) * aSecond; this.#sent < due; this.#sent++) {
      const client = this.#next()
      this.#asked.set(client, (this.#asked.get(client) ?? 0) + 1)
      const answer = this.#get(client).finally(() => this.#underWay.delete(answer))
      this.#underWay.add(answer)
    }
  }

  async gone(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    this.#agent.destroy()
  }

  /** Compares the sketches with the exact counts. */
  verdict({ talkers, clients }: Report): string {
    const true5 = [...this.#asked].sort(([, a], [, b]) => b - a).slice(0, talkers.length)
    const found = true5.filter(([key]) => talkers.some((talker) => talker.key === key)).length
    const off = (100 * Math.abs(clients - this.#asked.size)) / this.#asked.size
    return `Of the ${true5.length} busiest clients, ${found} were found. Clients: ${this.#asked.size}, off by ${off.toFixed(1)} %.`
  }

  #next(): string {
    const reached = this.#reached
    const weight = Math.random() * reached[reached.length - 1]
    let low = 0
    let high = reached.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (reached[middle] > weight) high = middle
      else low = middle + 1
    }
    return `client-${low + 1}`
  }

  #get(client: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { agent: this.#agent, headers: { 'x-client': client } }, (response) => {
        response.resume().once('end', resolve)
      })
      sent.once('error', reject).end()
    })
  }
}
