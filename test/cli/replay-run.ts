import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DiffReport, diffCommand, type ReplayReport, replayCommand } from '@sluice/cli'

/** Collects what a command prints. */
export class TextSink {
  text = ''
  readonly isTTY: boolean
  constructor(isTTY = false) {
    this.isTTY = isTTY
  }
  write(text: string): boolean {
    this.text += text
    return true
  }
}

/** A folder for the files of one test file. Call `remove` at the end. */
export class CommandFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'sluice-cli-'))

  file(name: string, contents: string | Buffer): string {
    const path = join(this.path, name)
    writeFileSync(path, contents)
    return path
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Replays logs and returns the report of `--json`. */
export async function replayed(
  files: readonly string[],
  options: Omit<Parameters<typeof replayCommand>[1], 'json' | 'stdout' | 'stderr'>,
): Promise<ReplayReport> {
  const stdout = new TextSink()
  const stderr = new TextSink()
  const code = await replayCommand(files, { ...options, json: true, stdout, stderr })
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr.text}`)
  return JSON.parse(stdout.text)
}

/** Compares policy files and returns the report of `--json`. */
export async function compared(
  before: string,
  after: string,
  options: Omit<Parameters<typeof diffCommand>[2], 'json' | 'stdout' | 'stderr'>,
): Promise<DiffReport> {
  const stdout = new TextSink()
  const stderr = new TextSink()
  const code = await diffCommand(before, after, { ...options, json: true, stdout, stderr })
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr.text}`)
  return JSON.parse(stdout.text)
}
