import { pageText } from '../docs/blocks.ts'

/** Returns the row of a section of docs/migrating.md that names an option. */
export function rowOf(library: string, option: string): string {
  const section = pageText('docs/migrating.md')
    .split(/^## From /m)
    .find((part) => part.startsWith(library))
  const row = section?.split('\n').find((line) => line.startsWith('|') && line.split('|')[1].includes(`\`${option}\``))
  if (row === undefined) throw new Error(`no row for ${option} of ${library}`)
  return row
}
