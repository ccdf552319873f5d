import type { LiveUpdate } from '../live/live-update.ts'

/** Shows updates of a live page. */
export interface Viewer {
  show(update: LiveUpdate): void
  /** Shows that the connection is lost, and that the command tries to reconnect. */
  lost(reason: string): void
  /** Restores the terminal. */
  close(): void
}
