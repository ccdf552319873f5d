import type { LiveUpdate } from '../live/live-update.ts'
import { hasColor, type Terminal } from '../terminal/terminal.ts'
import { updateLines } from './update-text.ts'
import type { Viewer } from './viewer.ts'

/** Shows the alternate screen without a cursor. Lines that are longer than the terminal is wide are cut. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'
const TOP = '\x1b[H'
const END_OF_LINE = '\x1b[K'
const BELOW = '\x1b[J'
const DEFAULT_ROWS = 24

/** Redraws the screen with each update, and when the size of the terminal changes. */
export class ScreenViewer implements Viewer {
  readonly #address: URL
  readonly #terminal: Terminal
  readonly #isColored: boolean
  readonly #redraw = (): void => this.#draw()
  #update: LiveUpdate | undefined
  #lost: string | undefined
  #isEntered = false

  constructor(address: URL, terminal: Terminal) {
    this.#address = address
    this.#terminal = terminal
    this.#isColored = hasColor(terminal.stdout, terminal.env)
    terminal.stdout.on?.('resize', this.#redraw)
  }

  show(update: LiveUpdate): void {
    this.#update = update
    this.#lost = undefined
    this.#draw()
  }

  lost(reason: string): void {
    this.#lost = reason
    this.#draw()
  }

  close(): void {
    const { stdout } = this.#terminal
    stdout.off?.('resize', this.#redraw)
    if (this.#isEntered) stdout.write(LEAVE)
  }

  #draw(): void {
    const { stdout } = this.#terminal
    // a terminal that does not keep up misses updates, so that none are queued
    if (this.#update === undefined || stdout.writableNeedDrain) return
    const lines = updateLines(this.#update, { address: this.#address, isColored: this.#isColored, lost: this.#lost })
    const room = Math.max(1, (stdout.rows ?? DEFAULT_ROWS) - 1)
    const shown =
      lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
    const start = this.#isEntered ? '' : ENTER
    this.#isEntered = true
    stdout.write(`${start}${TOP}${shown.map((line) => `${line}${END_OF_LINE}\r\n`).join('')}${BELOW}`)
  }
}
