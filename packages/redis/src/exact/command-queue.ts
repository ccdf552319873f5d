import { RequestQueue } from '@sluice/fleet/backend'

type Command = readonly string[]

/** Sends commands, and resolves with their replies. Returns undefined if they cannot be sent. */
export type SendCommands = (commands: readonly Command[]) => Promise<readonly unknown[]> | undefined

interface Waiting {
  readonly commands: readonly Command[]
  readonly resolve: (replies: readonly unknown[] | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Sends commands to one server. Commands that wait for the end of a turn share a write. */
export class CommandQueue {
  readonly #queue: RequestQueue<Waiting>

  constructor(send: SendCommands) {
    this.#queue = new RequestQueue<Waiting>({ isPrompt: true, send: (all) => sendAll(all, send) })
  }

  /** Resolves with the replies of these commands; undefined if they could not be sent. */
  add(commands: readonly Command[]): Promise<readonly unknown[] | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.add({ commands, resolve, reject })
    })
  }
}

async function sendAll(all: readonly Waiting[], send: SendCommands): Promise<() => void> {
  try {
    const replies = await send(all.flatMap(({ commands }) => commands))
    return () => {
      let from = 0
      for (const { commands, resolve } of all) {
        resolve(replies?.slice(from, from + commands.length))
        from += commands.length
      }
    }
  } catch (error) {
    return () => {
      for (const { reject } of all) reject(error)
    }
  }
}
