import Table from 'cli-table3'

/** Returns rows as a table with lines, in plain text. Columns after the first one are aligned right unless named. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: readonly string[] = [],
): string {
  const colAligns = head.map((name, at) => (at === 0 || left.includes(name) ? 'left' : 'right'))
  const table = new Table({ head: [...head], colAligns, style: { head: [], border: [], compact: true } })
  for (const row of rows) table.push([...row])
  return table.toString()
}
