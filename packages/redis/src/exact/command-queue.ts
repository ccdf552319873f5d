import { TurnBatch } from '@sluice/fleet/backend'
import { afterThisTurn } from '@sluice/limiter-core/backend'

type Command = readonly string[]

/** Sends commands, and resolves with their replies. Returns undefined if they cannot be sent. */
export type SendCommands = (commands: readonly Command[]) => Promise<readonly unknown[]> | undefined

interface Waiting {
  readonly commands: readonly Command[]
  readonly resolve: (replies: readonly unknown[] | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends commands to one server. If no reply is pending, commands are sent at once. Otherwise they are sent at the end of
 * the current turn of the event loop, together with the other commands of the turn, so that they share a write.
 */
export class CommandQueue {
  readonly #send: SendCommands
  readonly #waiting = new TurnBatch<Waiting>((waiting) => this.#sendAll(waiting.take()))
  #pending = 0

  constructor(send: SendCommands) {
    this.#send = send
  }

  /** Resolves with the replies of these commands; undefined if they could not be sent. */
  add(commands: readonly Command[]): Promise<readonly unknown[] | undefined> {
    return new Promise((resolve, reject) => {
      const added = { commands, resolve, reject }
      if (this.#pending === 0 && this.#waiting.size === 0) this.#sendAll([added])
      else this.#waiting.add(added)
    })
  }

  #sendAll(all: readonly Waiting[]): void {
    const sent = this.#send(all.flatMap(({ commands }) => commands))
    if (!sent) {
      for (const { resolve } of all) resolve(undefined)
      return
    }
    this.#pending++
    sent.then(
      (replies) => {
        this.#ended(all)
        let from = 0
        for (const { commands, resolve } of all) {
          resolve(replies.slice(from, from + commands.length))
          from += commands.length
        }
      },
      (error) => {
        this.#ended(all)
        for (const { reject } of all) reject(error)
      },
    )
  }

  #ended({ length }: readonly Waiting[]): void {
    const ended = (): void => {
      this.#pending--
    }
    // callers whose replies arrive together tend to send their next commands together, so wait for all of them
    if (length > 1) afterThisTurn(ended)
    else ended()
  }
}
