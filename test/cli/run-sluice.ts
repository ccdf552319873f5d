import { type CliOptions, type Output, runCli } from '@sluice/cli'

/** Collects what a command writes. */
export class CapturedOutput implements Output {
  text = ''
  isTTY = false
  columns = 120
  rows = 40
  writableNeedDrain = false
  readonly #resized = new Set<() => void>()

  write(text: string): boolean {
    this.text += text
    return true
  }

  on(_event: 'resize', run: () => void): void {
    this.#resized.add(run)
  }

  off(_event: 'resize', run: () => void): void {
    this.#resized.delete(run)
  }

  /** Changes the number of rows, as the window of a terminal does. */
  resize(rows: number): void {
    this.rows = rows
    for (const run of this.#resized) run()
  }

  /** Number of listeners to changes of the size. */
  get listeners(): number {
    return this.#resized.size
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1)
  }
}

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `sluice` to its end in this process, without variables of the environment unless `options` has some. */
export async function sluice(args: readonly string[], options: CliOptions = {}): Promise<Outcome> {
  const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()]
  const exitCode = await runCli(args, { stdout, stderr, env: {}, ...options })
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}
