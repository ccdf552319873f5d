import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Clock } from '@sluice/limiter-core'
import type { InsightSnapshot } from '../live/report/snapshot.ts'
import { snapshotText } from './bounded-snapshot.ts'

/** Source of snapshots, such as an `Insight`. */
export interface SnapshotSource {
  snapshot(): InsightSnapshot
}

const MAX_VIEWERS = 100
/** A viewer that has not read for this long, such as a sleeping device, is disconnected to make room for others. */
const LONGEST_BEHIND_MS = 60_000

interface Viewer {
  readonly res: ServerResponse
  /** Whether the viewer missed an update. The next one then includes the full history. */
  isBehind: boolean
  /** Time at which the viewer had last read everything. */
  readAt: number
}

/**
 * Sends server-sent events to all viewers. Each update uses one snapshot, however many viewers there are, and none is
 * created while there are no viewers. A viewer that has not read the previous update is skipped, so nothing is queued
 * for it; after a minute its stream is closed.
 */
export class PageStream {
  readonly #source: SnapshotSource
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #viewers = new Set<Viewer>()
  #cancel: (() => void) | undefined

  constructor(source: SnapshotSource, clock: Clock, everyMs: number) {
    this.#source = source
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** Whether the maximum number of viewers is reached. */
  get isFull(): boolean {
    return this.#viewers.size >= MAX_VIEWERS
  }

  /** Sends updates until the viewer disconnects. */
  open(res: ServerResponse): void {
    res.statusCode = 200
    res.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
    // proxies and compression middleware would delay updates
    res.setHeader('Cache-Control', 'no-store, no-transform')
    res.setHeader('X-Accel-Buffering', 'no')
    const viewer: Viewer = { res, isBehind: false, readAt: this.#clock.now() }
    this.#viewers.add(viewer)
    res.once('close', () => this.#leave(viewer))
    res.write(`retry: 1000\n\n${frame(this.#text(true))}`)
    this.#cancel ??= this.#clock.after(this.#everyMs, () => this.#update())
  }

  /** Ends every stream. */
  close(): void {
    for (const { res } of this.#viewers) res.end()
    this.#viewers.clear()
    this.#stop()
  }

  #update(): void {
    this.#cancel = this.#clock.after(this.#everyMs, () => this.#update())
    const ready = [...this.#viewers].filter((viewer) => this.#isReady(viewer))
    if (ready.length === 0) return
    const update = frame(this.#text(false))
    const whole = ready.some(({ isBehind }) => isBehind) ? frame(this.#text(true)) : ''
    for (const viewer of ready) {
      viewer.res.write(viewer.isBehind ? whole : update)
      viewer.isBehind = false
    }
  }

  #isReady(viewer: Viewer): boolean {
    const isReady = !needsDrain(viewer.res)
    viewer.isBehind ||= !isReady
    if (isReady) viewer.readAt = this.#clock.now()
    else if (this.#clock.now() - viewer.readAt >= LONGEST_BEHIND_MS) viewer.res.destroy()
    return isReady
  }

  #text(isWhole: boolean): string {
    return snapshotText(this.#source.snapshot(), isWhole)
  }

  #leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    if (this.#viewers.size === 0) this.#stop()
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

/** Whether earlier data waits to be sent. Over HTTP/2 only the stream of a response knows. */
function needsDrain(res: ServerResponse & { readonly stream?: Writable | undefined }): boolean {
  return (res.stream ?? res).writableNeedDrain
}

/** Formats an event. `JSON.stringify` does not emit line breaks, so one `data` line is enough. */
function frame(text: string): string {
  return `data: ${text}\n\n`
}
