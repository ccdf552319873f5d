import { createServer as createHttp1, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttp2, type Http2Server } from 'node:http2'
import type { Duplex } from 'node:stream'
import { byHeader, type Clock, type Observer } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { guardContinue, type InflightLimiter, limitUpgrade } from '@sluice/node-http'
import { adaptive } from '@sluice/overload'
import type { SeededRandom } from '@sluice/testkit'
import type { Handler } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'

/** The system clock, with the number of its timers that have neither run nor been cancelled. */
class CountingClock implements Clock {
  timers = 0
  readonly now = systemClock.now
  readonly wall = systemClock.wall

  after(ms: number, run: () => void, options?: Parameters<Clock['after']>[2]): () => void {
    this.timers++
    let isPending = true
    const end = (): boolean => {
      if (!isPending) return false
      isPending = false
      this.timers--
      return true
    }
    const cancel = systemClock.after(ms, () => end() && run(), options)
    return () => {
      end()
      cancel()
    }
  }
}

/** Counts events, and retains nothing. */
class Tally implements Observer {
  acquired = 0
  released = 0
  refused = 0
  failures = 0

  permitAcquired(): void {
    this.acquired++
  }

  permitReleased(): void {
    this.released++
  }

  capDenied(): void {
    this.refused++
  }

  event(): void {
    this.failures++
  }
}

const turn = (): Promise<void> => new Promise(setImmediate)

async function turns(random: SeededRandom): Promise<void> {
  for (let left = random.whole(12); left > 0; left--) await turn()
}

const BODY = Buffer.alloc(1_000_000)

/** Ways to respond, or not to: those that never end by themselves end with their client. */
const ways: readonly ((req: IncomingMessage, res: ServerResponse, random: SeededRandom) => unknown)[] = [
  (_req, res) => res.end('ok'),
  (_req, res) => res.end('ok'),
  (_req, res, random) => void turns(random).then(() => res.end('ok')),
  (_req, res, random) => void turns(random).then(() => res.end('ok')),
  (req, res) => req.resume().on('end', () => res.end('ok')),
  () => {},
  (_req, res) => void res.write('a part'),
  (req, res) => res.end(req.headers['x-big'] ? BODY : 'ok'),
]

/** A server whose cap has every option: a learned limit, priorities, fairness and a queue. */
export class StormServer {
  readonly clock = new CountingClock()
  readonly tally = new Tally()
  readonly server: Server | Http2Server
  readonly caps: readonly InflightLimiter[]
  connections = 0
  /** Requests that reached a handler. */
  entered = 0
  readonly #close: () => void

  constructor(name: string, isHttp2: boolean, random: SeededRandom) {
    const options = {
      limit: adaptive({ min: 2, max: 16, initial: 4 }),
      priority: { header: 'x-priority' },
      fairBy: byHeader('x-client'),
      queue: { max: 16, maxWaitMs: '500ms' },
      clock: this.clock,
      observers: [this.tally],
    } as const
    const { inflightLimit, listener } = frameworks[name]
    const cap = inflightLimit(options)
    const handler: Handler = (req, res) => {
      this.entered++
      const way = req.headers['x-hang'] ? () => {} : random.pick(ways)
      way(req, res, random)
    }
    const steps = listener(cap, handler)
    this.server = isHttp2 ? createHttp2(steps as never) : createHttp1(steps)
    const upgrade = limitUpgrade({ inflightLimit: { ...options, name: 'sockets' } }, (_req, socket) => {
      this.entered++
      upgraded(socket, random.whole(2) === 0)
    })
    if (!isHttp2) this.server.on('upgrade', upgrade)
    const guard = name === 'node:http' ? guardContinue(this.server, { inflightLimit: cap as never }) : undefined
    this.caps = [cap.limiter, ...upgrade.caps]
    this.server
      .on('sessionError', () => {})
      .on('connection', (socket: Duplex) => {
        this.connections++
        socket.once('close', () => this.connections--)
      })
    this.#close = () => {
      guard?.close()
      upgrade.close()
      cap.close()
      this.server.close()
    }
  }

  get held(): number {
    return this.caps.reduce((sum, cap) => sum + Number(cap.count()), 0)
  }

  /** Returns whether each cap admits as many requests as its limit, and one more not. False as long as it is overloaded. */
  async admitsItsLimit(): Promise<boolean> {
    for (const cap of this.caps) {
      const permits = []
      for (let place = 0; place <= cap.limit; place++) permits.push(await cap.acquire('', { mayWait: false }))
      for (const permit of permits) permit?.release('dropped')
      if (permits.filter(Boolean).length !== cap.limit) return false
    }
    return true
  }

  close(): void {
    this.#close()
  }
}

/** Reads until the client leaves; a socket that is not read does not show that. */
function upgraded(socket: Duplex, answers: boolean): void {
  if (answers) socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  socket.on('data', () => {}).on('end', () => socket.end())
}
