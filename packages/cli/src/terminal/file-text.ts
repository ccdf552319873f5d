import { readFile, writeFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { CommandFailure, EXIT } from './exit-code.ts'

const STANDARD_INPUT = '-'

/** Returns the text of a file; `-` is the standard input. Throws a `CommandFailure` if the file cannot be read. */
export async function contentsOf(file: string): Promise<string> {
  try {
    return file === STANDARD_INPUT ? await textOf(process.stdin) : await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `cannot read ${file}: ${(error as Error).message}`)
  }
}

/** Writes a file. Throws a `CommandFailure` if the file cannot be written. */
export async function writeContents(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `cannot write ${file}: ${(error as Error).message}`)
  }
}
