import { type Clock, causeOf, KEEP_ALIVE, type RecordStore } from '@sluice/limiter-core/backend'
import type { UnreadMessages } from '../unread-messages.ts'
import { ControlCipher } from './control-cipher.ts'
import { controlMessage, controlsTexts } from './control-message.ts'
import type { StoredControl } from './stored-control.ts'

export interface ControlArchiveOptions {
  readonly store: RecordStore
  readonly secret: string
  readonly topic: string
  readonly clock: Clock
  readonly unread: UnreadMessages
  /** Called once, with all changes that the store has. */
  readonly restored: (controls: readonly StoredControl[]) => void
  /** Called when the store fails, with the cause, and with false when it works again. */
  readonly failed: (cause: string | false) => void
}

/** Time for which a change remains stored after it has ended, for the audit log. */
const KEPT_MS = 7 * 86_400_000
/** Time after which a call is considered failed. It may still succeed. */
const TIMEOUT_MS = 2_000

/** Stores changes, encrypted, so that they outlast all processes. Failed calls are repeated until they succeed. */
export class ControlArchive {
  readonly #options: ControlArchiveOptions
  readonly #cipher: ControlCipher
  /** Changes that are not stored yet, by the id of their record. */
  readonly #waiting = new Map<string, StoredControl>()
  /** Functions that reject the calls under way. */
  readonly #pending = new Set<() => void>()
  #isRestored = false
  #running: Promise<void> | undefined
  #isFailing = false
  #isClosed = false

  constructor(options: ControlArchiveOptions) {
    const { secret, topic } = options
    this.#options = options
    this.#cipher = new ControlCipher(secret, `${topic}.stored`)
  }

  /** Whether a call has to be repeated. */
  get isBehind(): boolean {
    return !this.#isRestored || this.#waiting.size > 0
  }

  /** Stores a change. Never rejects: if the store fails or takes 2 s, the change is stored later. */
  async keep(control: StoredControl): Promise<void> {
    // not the same record, because the change may be stored after it was undone
    const id = control.undoneAt === undefined ? control.id : `${control.id} undone`
    this.#waiting.set(id, control)
    await this.run()
    // a run that had begun may have ended without it
    if (this.#waiting.has(id) && !this.#isFailing) await this.run()
  }

  /** Reads the store if that was not done yet, and stores what is missing. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#pending) end()
  }

  async #run(): Promise<void> {
    if (this.#isClosed) return
    try {
      if (!this.#isRestored) await this.#restore()
      for (const [id, control] of this.#waiting) {
        if (this.#isClosed) return
        await this.#put(id, control)
        if (this.#waiting.get(id) === control) this.#waiting.delete(id)
      }
      this.#note(undefined)
    } catch (error) {
      this.#note(error)
    }
  }

  async #restore(): Promise<void> {
    const texts = await this.#within(this.#options.store.all())
    if (this.#isClosed) return
    this.#isRestored = true
    this.#options.restored(texts.flatMap((text) => this.#opened(text)))
  }

  #put(id: string, control: StoredControl): Promise<void> {
    const text = Buffer.from(this.#cipher.seal(controlsTexts([control], this.#options.clock.wall())[0])).toString(
      'base64',
    )
    return this.#within(this.#options.store.put(id, text, control.endsAt + KEPT_MS))
  }

  /** Returns the changes of a record; none if it has another secret or is malformed. */
  #opened(text: string): readonly StoredControl[] {
    try {
      return controlMessage(this.#cipher.open(Buffer.from(text, 'base64'))).controls
    } catch {
      this.#options.unread.add(this.#options.topic)
      return []
    }
  }

  #within<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(Object.assign(new Error('the store did not reply'), { code: 'LATE' }))
      const stop = this.#options.clock.after(TIMEOUT_MS, late, KEEP_ALIVE)
      const end = (): void => {
        stop()
        late()
      }
      this.#pending.add(end)
      call.then(resolve, reject).finally(() => {
        stop()
        this.#pending.delete(end)
      })
    })
  }

  #note(error: unknown): void {
    const isFailing = error !== undefined
    if (isFailing !== this.#isFailing) this.#options.failed(isFailing && causeOf(error))
    this.#isFailing = isFailing
  }
}
