import { spawn } from 'node:child_process'

interface Ended {
  readonly code: number | null
  /** Standard output alone: what a command answers. */
  readonly stdout: string
  /** Both streams: what a person reads when it failed. */
  readonly output: string
}

/** Runs a command to its end or, where it hangs, for 90 s; rejects only when it cannot be started. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: ownEnvironment(),
      timeout: 90_000,
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

/** The same where the command has to succeed: else it rejects with all that the command wrote. */
export async function mustRun(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, output } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`)
  return stdout
}

/** Ours without what the npm and the jest that started us would have the child believe. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const steering = /^(npm_|JEST_|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !steering.test(name)))
}
