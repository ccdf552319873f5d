import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ownEnvironment } from './command.ts'

interface Served {
  readonly statuses: readonly number[]
  /** Status of the last response. */
  readonly retryAfter: string | null
  /** Exit code after the server was closed; null if the process had to be killed. */
  readonly exitCode: number | null
  readonly errors: string
}

/**
 * Starts a consumer's script, which prints its port and closes its server when its standard input ends; asks it
 * `requests` times and waits for the end of the process. `env` extends the environment of every consumer.
 */
export async function askConsumer(
  script: string,
  cwd: string,
  requests: number,
  env: NodeJS.ProcessEnv = {},
): Promise<Served> {
  const child = spawn(process.execPath, [script], { cwd, env: { ...ownEnvironment(), ...env }, timeout: 110_000 })
  const ended = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const statuses: number[] = []
  let retryAfter: string | null = null
  // a script that fails to start prints no line, it only exits
  for await (const port of createInterface(child.stdout)) {
    while (statuses.length < requests) {
      const answer = await fetch(`http://127.0.0.1:${port}/`)
      await answer.arrayBuffer()
      statuses.push(answer.status)
      retryAfter = answer.headers.get('retry-after')
    }
    child.stdin.end()
  }
  const [exitCode] = await ended
  return { statuses, retryAfter, exitCode, errors }
}
