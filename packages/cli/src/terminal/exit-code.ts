/** Exit codes of `sluice`. docs/cli.md explains them. */
export const EXIT = {
  /** The command did what it was asked for. */
  ok: 0,
  /** The command found problems. */
  problems: 1,
  /** Wrong arguments, or a file that cannot be read. */
  usage: 2,
  /** The live page does not respond, or refuses the request. */
  unavailable: 3,
} as const

/** Ends a command with a message for people and an exit code. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}
