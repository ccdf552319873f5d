import type { MaybePromise } from '@sluice/limiter-core'
import { FakeClock } from '../../fake-clock.ts'
import type { AppDescription, Exchange, Handler, LimiterSpec, Reply, RunningApp } from './app-description.ts'
import { type Answered, type Asked, ask, type Pending, start } from './client.ts'
import { Warnings } from './warnings.ts'

/** An application under test. */
export interface Site {
  readonly port: number
  ask(asked?: Asked): Promise<Answered>
  start(asked?: Asked): Pending
}

/** Builds the applications of a contract, and cleans up after each test. */
export class BuildingStage<Description> {
  readonly warnings: Warnings = new Warnings()
  readonly #makeApp: (description: Description) => MaybePromise<RunningApp>
  readonly #open: RunningApp[] = []
  #clock = new FakeClock()

  constructor(makeApp: (description: Description) => MaybePromise<RunningApp>) {
    this.#makeApp = makeApp
  }

  /** A clock that only the test moves; new for each test. */
  get clock(): FakeClock {
    return this.#clock
  }

  /** Plays one sentence, and clears away after it. */
  async play(sentence: () => void | Promise<void>): Promise<void> {
    this.#clock = new FakeClock()
    this.warnings.listen()
    try {
      await sentence()
    } finally {
      this.warnings.stop()
      await Promise.all(this.#open.splice(0).map((app) => app.close()))
    }
  }

  async serve(description: Description): Promise<Site> {
    const app = await this.#makeApp(description)
    this.#open.push(app)
    const { port } = app
    return { port, ask: (asked) => ask(port, asked), start: (asked) => start(port, asked) }
  }
}

/** Builds applications with limiters in sequence. */
export class Stage extends BuildingStage<AppDescription> {
  /** An application of one route at `/` behind these limiters. */
  behind(limits: readonly LimiterSpec[], handler: Handler = ok): Promise<Site> {
    return this.serve({ limits, routes: [{ path: '/', handler }] })
  }
}

export function ok(): Reply {
  return { body: 'ok' }
}

/** A handler that responds when the test opens the gate. */
export class Gate {
  entered = 0
  open: () => void = () => {}
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve
  })

  readonly handler = async (_exchange: Exchange): Promise<Reply> => {
    this.entered++
    await this.#opened
    return ok()
  }
}

/** Sends requests one after the other and returns their statuses. */
export async function statuses(site: Site, times: number, asked?: Asked): Promise<number[]> {
  const all: number[] = []
  for (let time = 0; time < times; time++) all.push((await site.ask(asked)).status)
  return all
}
