import { parsePolicies } from '@sluice/policies'
import { exitCodeOf } from '../replay/command-streams.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { contentsOf, writeContents } from '../terminal/file-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { limitTable } from './limit-table.ts'
import { type TableFormat, tableIn } from './table-formats.ts'

export interface DocsCommandOptions {
  readonly policies: string
  readonly format: TableFormat
  readonly output?: string
}

/** Writes the limits of a policy file as a table for people. Returns 1 if the file is invalid. */
export async function docsCommand(
  { policies, format, output }: DocsCommandOptions,
  { stdout, stderr }: Terminal,
): Promise<number> {
  return exitCodeOf(async () => {
    const document = parsePolicies(await contentsOf(policies), policies)
    const text = tableIn(format, limitTable(document))
    if (output === undefined) stdout.write(text)
    else await writeContents(output, text)
    return EXIT.ok
  }, stderr)
}
