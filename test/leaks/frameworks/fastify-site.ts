import type { AddressInfo } from 'node:net'
import { expect } from '@jest/globals'
import { type FastifySluiceOptions, sluice } from '@sluice/fastify'
import { until, Watcher } from '@sluice/testkit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GET, RawClient } from '../raw-client.ts'

export type FastifyHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** An application behind the plugin with a cap, as users write it. */
export class FastifySite {
  readonly watcher: Watcher = new Watcher()
  readonly app: FastifyInstance
  entered = 0
  readonly #clients: RawClient[] = []

  constructor(app: FastifyInstance) {
    this.app = app
  }

  async open(handler: FastifyHandler, cap: object = {}, before: object = {}): Promise<this> {
    const inflightLimit = { limit: 100, observers: [this.watcher], ...cap } as FastifySluiceOptions['inflightLimit']
    await this.app.register(sluice, { inflightLimit })
    this.app.get('/', before, (request, reply) => {
      this.entered++
      return handler(request, reply)
    })
    await this.app.listen({ port: 0, host: '127.0.0.1' })
    return this
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.to(this.port)
    this.#clients.push(client)
    client.send(GET)
    return client
  }

  async entering(): Promise<RawClient> {
    const { entered } = this
    const client = await this.client()
    await until(() => this.entered > entered, { what: 'a request that reaches the handler' })
    return client
  }

  async released(times: number): Promise<void> {
    const { watcher } = this
    await until(() => watcher.acquired >= times && watcher.held === 0, { what: 'held places to come back' })
    expect([watcher.acquired, watcher.released, watcher.fewestHeld]).toEqual([times, times, 0])
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.leave()
    await this.app.close()
    await until(() => this.watcher.held === 0, { what: 'held places to come back' })
  }
}
