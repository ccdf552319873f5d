// A table is `{ title, columns, rows, notes }`: a row is an array with a cell per column, which is a string, a number, or
// the smallest and the largest of several numbers.

export function formatTable({ title, columns, rows, notes = [] }, heading = '###') {
  const texts = rows.map((row) => row.map(formatCell))
  const numeric = columns.map((_, at) => rows.length > 0 && rows.every((row) => typeof row[at] !== 'string'))
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

/** Throws unless the table has rows with one cell per column, and every number is finite, also inside strings. */
export function proveTable({ title, columns, rows }) {
  if (rows.length === 0) throw new Error(`${title}: no rows`)
  for (const row of rows) {
    if (row.length !== columns.length || !row.every(isWhole)) {
      throw new Error(`${title}: a broken row: ${JSON.stringify(row)}`)
    }
  }
}

function isWhole(cell) {
  if (Array.isArray(cell)) return cell.length === 2 && cell.every(Number.isFinite)
  return typeof cell === 'string' ? !/NaN|Infinity|undefined/.test(cell) : Number.isFinite(cell)
}

function line(cells) {
  return `| ${cells.join(' | ')} |`
}

export function formatCell(cell) {
  if (Array.isArray(cell)) {
    const [smallest, largest] = cell.map(formatCell)
    return smallest === largest ? smallest : `${smallest} to ${largest}`
  }
  if (typeof cell !== 'number') return String(cell).replaceAll('|', '\\|')
  const size = Math.abs(cell)
  if (size >= 100) return Math.round(cell).toLocaleString('en-US')
  return cell.toFixed(size >= 10 ? 1 : 2)
}
