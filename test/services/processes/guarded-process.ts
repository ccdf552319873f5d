import { type ChildProcess, spawn } from 'node:child_process'
import { guard } from './guardian.ts'
import type { User } from './unprivileged.ts'

export interface GuardedCommand {
  readonly binary: string
  readonly args: readonly string[]
  /** Folder to delete when this process is gone. */
  readonly folder: string
  /** Default: the user of this process. */
  readonly user?: User
  /** Shell command that ends the process. Default: `guard` kills it. */
  readonly end?: string
}

export interface ProcessListener {
  /** Also called with the error if the process could not be started. */
  readonly onOutput: (text: string) => void
  /** Resolves when the process and all processes that hold its output are gone. */
  readonly onClose: (child: ChildProcess) => void
}

/** A process that ends with this one, however this process ends. */
export function spawnGuarded(
  { binary, args, folder, user = {}, end }: GuardedCommand,
  { onOutput, onClose }: ProcessListener,
): ChildProcess {
  const child = spawn(binary, args, { ...user, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
  const unguard = child.pid === undefined ? () => {} : guard(child.pid, folder, end)
  child.once('error', (error) => onOutput(error.message))
  child.once('close', () => {
    unguard()
    onClose(child)
  })
  return child
}
