import type { ServerResponse } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import type { InsightSnapshot } from '../live/snapshot.ts'
import { snapshotText } from './bounded-snapshot.ts'

/** The data of the page; an `Insight` satisfies it. */
export interface SnapshotSource {
  snapshot(): InsightSnapshot
}

const MOST_VIEWERS = 100
/**
 * A viewer that has not read for this long is disconnected, because it may be a sleeping device that occupies a
 * place.
 */
const LONGEST_BEHIND_MS = 60_000

interface Viewer {
  readonly res: ServerResponse
  /** Set if it missed an update: the next one contains the complete history. */
  isBehind: boolean
  /** When it was last found to have read everything. */
  readAt: number
}

/**
 * Server-sent events for all viewers. One snapshot is created per update, whatever the number of viewers, and none
 * without viewers. A viewer that has not read the last update is skipped and nothing is queued for it; its stream is
 * closed after a minute.
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

  /** True where no further viewer is taken. */
  get isFull(): boolean {
    return this.#viewers.size >= MOST_VIEWERS
  }

  /** Sends updates until the viewer leaves. */
  open(res: ServerResponse): void {
    res.statusCode = 200
    res.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
    // proxies and middleware that compress would hold updates back
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
    const isReady = !viewer.res.writableNeedDrain
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

/** JSON contains no line breaks. */
function frame(text: string): string {
  return `data: ${text}\n\n`
}
