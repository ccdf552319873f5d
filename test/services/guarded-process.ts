import { type ChildProcess, spawn } from 'node:child_process'
import { guard } from './guardian.ts'
import type { User } from './unprivileged.ts'

export interface GuardedCommand {
  readonly binary: string
  readonly args: readonly string[]
  /** Deleted when this process is gone. */
  readonly folder: string
  /** Default: who this process is. */
  readonly user?: User
  /** How a shell ends it, where `guard` shall not just kill it. */
  readonly end?: string
}

export interface ProcessListener {
  /** Also called with why it could not be started. */
  readonly onOutput: (text: string) => void
  /** It is gone, and so is everybody who holds its output. */
  readonly onClose: (child: ChildProcess) => void
}

/** A process that ends with this one, however that ends. */
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
