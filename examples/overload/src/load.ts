// The clients, in a process of their own. They send requests at a fixed rate, however slow the answers are.
import { Agent, get } from 'node:http'
import { Outcomes } from './outcomes.ts'
import { routes } from './routes.ts'

/** Time after which a client no longer waits for an answer. */
const PATIENCE_MS = 1_000
const TICK_MS = 10
const CLIENTS = 20

const [url] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
let sent = 0

/** Requests at one rate. */
class Load {
  readonly #outcomes = new Map(Object.keys(routes).map((path) => [path, new Outcomes()]))
  readonly #perSecond: number
  readonly #startedAt = performance.now()
  readonly #timer = setInterval(() => this.#send(), TICK_MS)
  #sent = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Stops sending, and reports when every request has an outcome. */
  end(): void {
    clearInterval(this.#timer)
    const waiting = setInterval(() => {
      const all = [...this.#outcomes]
      if (all.some(([, { open }]) => open > 0)) return
      clearInterval(waiting)
      process.send?.(Object.fromEntries(all.map(([path, outcomes]) => [path, outcomes.report()])))
    }, TICK_MS)
  }

  #send(): void {
    const due = ((performance.now() - this.#startedAt) * this.#perSecond) / 1_000
    while (this.#sent < due) {
      const path = this.#nextPath()
      ask(path, this.#outcomes.get(path) as Outcomes)
      this.#sent++
    }
  }

  /** Returns the route that is furthest behind its share. */
  #nextPath(): string {
    const behind = Object.entries(routes).map(([path, { share }]) => {
      return { path, by: share * (this.#sent + 1) - (this.#outcomes.get(path) as Outcomes).sent }
    })
    return behind.reduce((most, one) => (one.by > most.by ? one : most)).path
  }
}

function ask(path: string, outcomes: Outcomes): void {
  outcomes.sent++
  const startedAt = performance.now()
  // one client sends a third of all requests
  const client = ++sent % 3 === 0 ? 'busy' : `client-${sent % CLIENTS}`
  const request = get(`${url}${path}`, { agent, headers: { 'x-api-key': client } })
  const timer = setTimeout(() => request.destroy(new Error('too late')), PATIENCE_MS)
  let isOver = false
  const end = (count: () => void) => () => {
    clearTimeout(timer)
    if (!isOver) count()
    isOver = true
  }
  const failed = end(() => outcomes.late++)
  request.once('error', failed)
  request.once('response', (response) => {
    const answered = end(() => {
      if (response.statusCode === 200) outcomes.durationsMs.push(performance.now() - startedAt)
      else outcomes.refused++
    })
    response.resume().once('end', answered).once('error', failed)
  })
}

let load: Load | undefined
process.on('message', ({ perSecond }: { readonly perSecond: number }) => {
  load?.end()
  load = perSecond > 0 ? new Load(perSecond) : undefined
})
process.once('disconnect', () => process.exit())
// the parent ends this process
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
