import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Controller, Get, Req, Res, Sse, StreamableFile } from '@nestjs/common'
import { SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { until, Watcher } from '@sluice/testkit'
import { EMPTY, finalize, interval, map, type Observable, Subject, throwError } from 'rxjs'
import { GET, RawClient } from '../leaks/raw-client.ts'
import type { Platform } from './nest-app.ts'
import { onSite, type Site } from './site.ts'

type CapOptions = Partial<NonNullable<SluiceModuleOptions['inflightLimit']>>

/** State of the handlers of `Ends`. */
export const at = {
  /** Resumes the waiting handlers. */
  waiting: [] as (() => void)[],
  /** Observables that never end; their subscribers keep them from being collected. */
  endless: [] as Subject<never>[],
  entered: 0,
  running: 0,
  mostRunning: 0,
}

async function work(): Promise<string> {
  at.entered++
  at.running++
  at.mostRunning = Math.max(at.running, at.mostRunning)
  await new Promise<void>((resolve) => at.waiting.push(resolve))
  at.running--
  return 'done'
}

@Controller()
class Ends {
  @Get('ok')
  ok(): string {
    return 'ok'
  }

  @Get('throws')
  throws(): never {
    throw new Error('no database')
  }

  @Get('fails')
  fails(): Observable<never> {
    return throwError(() => new Error('no database'))
  }

  @Get('nothing')
  nothing(): Observable<never> {
    return EMPTY
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(Readable.from(['a', 'b', 'c']))
  }

  @Get('endless')
  endless(): StreamableFile {
    at.entered++
    return new StreamableFile(new Readable({ read() {} }).wrap(new Readable({ read() {} })))
  }

  @Get('raw')
  raw(@Res() res: { send(body: string): unknown }): void {
    res.send('raw')
  }

  @Get('never')
  never(): Observable<never> {
    at.entered++
    at.running++
    const endless = new Subject<never>()
    at.endless.push(endless)
    return endless.pipe(finalize(() => at.running--))
  }

  @Get('piped')
  async piped(@Res() res: ServerResponse & { raw?: ServerResponse }): Promise<void> {
    at.entered++
    await pipeline(new PassThrough(), res.raw ?? res).catch(() => {})
  }

  @Sse('events')
  events(): Observable<{ data: string }> {
    at.entered++
    at.running++
    return interval(1).pipe(
      map(() => ({ data: 'tick' })),
      finalize(() => at.running--),
    )
  }

  @Get('work')
  work(): Promise<string> {
    return work()
  }

  @Get('held')
  held(@Req() req: { sluice: { holdUntil(work: Promise<unknown>): void } }): string {
    req.sluice.holdUntil(work())
    return 'answered'
  }
}

/** Helpers for a test of a cap. */
export interface Held {
  readonly site: Site
  readonly watcher: Watcher
  /** Sends a request that reaches its handler. */
  entering(path: string): Promise<RawClient>
  /** Waits until every permit has been released, and checks their number. */
  allBack(acquired: number): Promise<void>
}

/** Serves `Ends` behind a cap for as long as `visit` takes. */
export async function behindCap(
  platform: Platform,
  cap: CapOptions,
  visit: (held: Held) => Promise<void>,
): Promise<void> {
  Object.assign(at, { waiting: [], endless: [], entered: 0, running: 0, mostRunning: 0 })
  const watcher = new Watcher()
  const inflightLimit = { limit: 100, observers: [watcher], ...cap }
  const options = { imports: [SluiceModule.forRoot({ inflightLimit })], controllers: [Ends] }
  await onSite(platform, options, async (site) => {
    const clients: RawClient[] = []
    const entering = async (path: string): Promise<RawClient> => {
      const client = await RawClient.to(site.port)
      clients.push(client)
      const before = at.entered
      client.send(GET.replace('/', path))
      await until(() => at.entered > before, { what: 'a request that reaches its handler' })
      return client
    }
    const allBack = async (acquired: number): Promise<void> => {
      await until(() => watcher.acquired >= acquired && watcher.held === 0, { what: 'held places to come back' })
      assert.deepEqual([watcher.acquired, watcher.released, watcher.fewestHeld], [acquired, acquired, 0])
    }
    await visit({ site, watcher, entering, allBack })
    for (const client of clients) client.leave()
    for (const finish of at.waiting) finish()
  })
}
