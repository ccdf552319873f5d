// A Worker whose Durable Object fails on demand: the paths /fault/<name> and /heal change it, and all others are limited.
import { env } from 'cloudflare:workers'
import { durableObjectBackend, type LimitObjectState, LimitObject as Sound } from '@sluice/cloudflare'
import { rateLimit, sluiceOf } from '@sluice/fetch'

type Fault = 'throws' | 'hangs' | 'none'

export class LimitObject extends Sound {
  readonly #state: LimitObjectState
  readonly #held: (() => void)[] = []
  #fault: Fault = 'none'

  constructor(state: LimitObjectState, env: unknown) {
    super(state, env)
    this.#state = state
  }

  override async fetch(request: Request): Promise<Response> {
    const [, command, argument] = new URL(request.url).pathname.split('/')
    if (command === 'fault') {
      this.#fault = argument as Fault
      for (const release of this.#held.splice(0)) if (this.#fault === 'none') release()
      return new Response()
    }
    if (command === 'ring') {
      await this.#state.storage.setAlarm(Date.now())
      return new Response()
    }
    if (command === 'entries') {
      const names = [...(await this.#state.storage.list({ limit: 100 })).keys()]
      return Response.json({ names, alarm: await this.#state.storage.getAlarm() })
    }
    if (this.#fault === 'throws') throw new Error('the object is broken')
    if (this.#fault === 'hangs') await new Promise<void>((resolve) => this.#held.push(resolve))
    return super.fetch(request)
  }
}

const { LIMITS } = env
const backend = durableObjectBackend(LIMITS, { shards: 1 })
const options = {
  limit: 10_000,
  key: (request: Request) => new URL(request.url).searchParams.get('key') ?? '',
  backend,
}
const hour = rateLimit({ ...options, name: 'hour', window: '1h', algorithm: 'fixed-window' })
const short = rateLimit({ ...options, name: 'short', window: '1s', algorithm: 'fixed-window' })

function decided(request: Request): Response {
  const { source, counted, allowed, binding } = sluiceOf(request)?.decision ?? {}
  return Response.json({ source, counted, allowed, remaining: binding?.remaining })
}

const handlers: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
  '/hour': hour.wrap(decided),
  '/short': short.wrap(decided),
}

export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const handler = handlers[url.pathname]
    if (handler) return handler(request)
    const stub = LIMITS.get(LIMITS.idFromName('sluice:0'))
    return new Response(await (await stub.fetch(request.url, { method: 'POST', body: '' })).text())
  },
}
