import { spawn } from 'node:child_process'

export interface Outcome {
  readonly code: number | null
  /** Standard output only. */
  readonly stdout: string
  /** Standard output and standard error, for error messages. */
  readonly output: string
}

/**
 * Runs a command to its end, or at most `timeout` ms if it hangs: by default slightly less than jest gives a test. Rejects
 * only if it cannot be started.
 */
export function run(command: string, args: readonly string[], cwd: string, timeout = 110_000): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: ownEnvironment(),
      timeout,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, output }))
  })
}

/** Runs a command that must succeed; otherwise rejects with its whole output. */
export async function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  timeout?: number,
): Promise<string> {
  const { code, stdout, output } = await run(command, args, cwd, timeout)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`)
  return stdout
}

/** The environment without variables that npm and jest set for this process. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const effective = /^(npm_|JEST_|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !effective.test(name)))
}
