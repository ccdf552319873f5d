import { FakeClock, Warnings } from '@sluice/testkit'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import request, { type Response } from 'supertest'
import { CompiledControllers, type Setting } from './compiled-controllers.ts'
import type * as Controllers from './controllers/express.ts'

/** The Express controllers, compiled under one setting, with separate classes, limiters and clock for each test. */
export class ExpressStage {
  readonly warnings = new Warnings()
  clock = new FakeClock()
  /** Number of method calls that waited for `finish`. */
  begun = 0
  /** Resolves the promises that methods wait for. */
  finish: () => void = () => {}
  readonly #setting: Setting
  #compiled: CompiledControllers | undefined
  #classes: ReturnType<typeof Controllers.expressControllers> | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  get classes(): ReturnType<typeof Controllers.expressControllers> {
    if (!this.#classes) throw new Error('the stage is not set')
    return this.#classes
  }

  async compile(): Promise<void> {
    this.#compiled = await CompiledControllers.of(this.#setting)
  }

  async set(): Promise<void> {
    this.warnings.listen()
    this.clock = new FakeClock()
    this.begun = 0
    const held = new Promise<void>((resolve) => {
      this.finish = resolve
    })
    const controllers = await this.#compiled?.load<typeof Controllers>('express')
    const open = (): Promise<void> => {
      this.begun++
      return held
    }
    this.#classes = controllers?.expressControllers(this.clock, { open })
  }

  strike(): void {
    this.finish()
    this.warnings.stop()
  }

  close(): void {
    this.#compiled?.[Symbol.dispose]()
  }
}

export function appOf(routes: Readonly<Record<string, RequestHandler>>): Express {
  const app = express()
  for (const [path, handler] of Object.entries(routes)) app.get(path, handler)
  const failed: ErrorRequestHandler = (error: Error, _req, res, _next) => {
    res.status(500).send(error.message)
  }
  return app.use(failed)
}

/** Builds an application whose paths are the names of methods. */
export function serving(users: object, ...names: readonly string[]): Express {
  const methods = users as Record<string, RequestHandler>
  return appOf(Object.fromEntries(names.map((name) => [`/${name}`, methods[name].bind(users)])))
}

export async function statuses(app: Express, ...paths: readonly string[]): Promise<number[]> {
  const seen: number[] = []
  for (const path of paths) seen.push((await request(app).get(path)).status)
  return seen
}

/** Returns the policies and their remaining units, as listed in a response. */
export function left({ headers }: Response): string {
  return String(headers.ratelimit).replace(/;t=\d+/g, '')
}
