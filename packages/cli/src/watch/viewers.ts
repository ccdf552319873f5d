import type { LiveUpdate } from '../live/live-update.ts'
import { safeJson, safeText } from '../terminal/safe-text.ts'
import { hasColor, type Terminal } from '../terminal/terminal.ts'
import { ScreenViewer } from './screen-viewer.ts'
import { updateLines } from './update-text.ts'
import type { Viewer } from './viewer.ts'

/** How updates are shown. */
export interface ViewerOptions {
  readonly json?: boolean
  readonly once?: boolean
}

/** Returns the viewer for the options and the terminal: JSON, text blocks, or a screen that is redrawn. */
export function viewerOf(address: URL, { json, once }: ViewerOptions, terminal: Terminal): Viewer {
  const { stdout } = terminal
  if (json) return new LineViewer(terminal, (update) => `${jsonOf(update)}\n`)
  if (!once && stdout.isTTY) return new ScreenViewer(address, terminal)
  const isColored = hasColor(stdout, terminal.env)
  const block = (update: LiveUpdate): string => `${updateLines(update, { address, isColored }).join('\n')}\n`
  return new LineViewer(terminal, once ? block : (update) => `${block(update)}\n`)
}

/** Writes each update once. */
class LineViewer implements Viewer {
  readonly #terminal: Terminal
  readonly #format: (update: LiveUpdate) => string
  #isLost = false

  constructor(terminal: Terminal, format: (update: LiveUpdate) => string) {
    this.#terminal = terminal
    this.#format = format
  }

  show(update: LiveUpdate): void {
    this.#isLost = false
    // a reader that does not keep up misses updates, so that none are queued
    if (!this.#terminal.stdout.writableNeedDrain) this.#terminal.stdout.write(this.#format(update))
  }

  lost(reason: string): void {
    if (!this.#isLost) this.#terminal.stderr.write(`disconnected, reconnecting: ${safeText(reason)}\n`)
    this.#isLost = true
  }

  close(): void {}
}

/** Returns an update without its history, which each update would repeat in parts. */
function jsonOf(update: LiveUpdate): string {
  return safeJson({ ...update, history: undefined, day: undefined })
}
