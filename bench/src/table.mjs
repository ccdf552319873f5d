// A table is `{ title, columns, rows, notes }`: a row is an array of texts and numbers, one per column.

export function formatTable({ title, columns, rows, notes = [] }, heading = '###') {
  const texts = rows.map((row) => row.map(formatCell))
  const numeric = columns.map((_, at) => rows.length > 0 && rows.every((row) => typeof row[at] === 'number'))
  const lines = [
    `${heading} ${title}`,
    '',
    line(columns),
    line(numeric.map((right) => (right ? '---:' : '---'))),
    ...texts.map(line),
    ...notes.flatMap((note) => ['', note]),
  ]
  return `${lines.join('\n')}\n`
}

/** Throws unless every table has rows, each as wide as its head, and every number is finite. */
export function proveTable({ title, columns, rows }) {
  if (rows.length === 0) throw new Error(`${title}: no rows`)
  for (const row of rows) {
    const whole =
      row.length === columns.length && row.every((cell) => typeof cell === 'string' || Number.isFinite(cell))
    if (!whole) throw new Error(`${title}: a broken row: ${JSON.stringify(row)}`)
  }
}

function line(cells) {
  return `| ${cells.join(' | ')} |`
}

function formatCell(cell) {
  if (typeof cell !== 'number') return String(cell).replaceAll('|', '\\|')
  const size = Math.abs(cell)
  if (size >= 100) return Math.round(cell).toLocaleString('en-US')
  return cell.toFixed(size >= 10 ? 1 : 2)
}
