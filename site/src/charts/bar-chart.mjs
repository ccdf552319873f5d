import { formatCell } from '../../../bench/src/run/table.mjs'

const CUT = 97

/**
 * Draws a chart as a table whose rows have a bar, so that screen readers have its figures as well. `figure` and `error`:
 * names of columns; `isSluice`: whether a row is drawn in the colour of Sluice; `until`: length of the longest bar, at
 * which longer ones are cut, by default the largest figure.
 */
export function barChart({
  table,
  title,
  figure,
  error,
  label = table.columns[0],
  rows,
  isSluice,
  isMoreBetter,
  until,
}) {
  const [labelAt, figureAt, errorAt] = [label, figure.column, error.column].map((name) => columnOf(table, name))
  const drawn = table.rows.filter((row) => rows(row[labelAt]))
  if (drawn.length < 2) throw new Error(`bench/results: "${table.title}" has too few rows for its chart`)
  const longest = until ?? Math.max(...drawn.map((row) => numberOf(row[figureAt])))
  const lines = drawn.map((row) => {
    const name = row[labelAt]
    return `<tr${isSluice(name) ? ' class="own"' : ''}><th scope="row">${html(name)}</th><td>${html(formatCell(row[figureAt]))}${bar(numberOf(row[figureAt]) / longest)}</td><td>${html(formatCell(row[errorAt]))}</td></tr>`
  })
  return `<table class="chart" aria-label="${html(title)}">
<caption>${isMoreBetter ? 'Longer' : 'Shorter'} bars are better.${drawn.some((row) => numberOf(row[figureAt]) > longest) ? ' Bars with a gap are cut.' : ''}</caption>
<thead><tr><th scope="col">${html(label)}</th><th scope="col">${html(figure.title)}</th><th scope="col">${html(error.title)}</th></tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
`
}

/** `share`: of the longest bar. A longer one has a gap near its end. */
function bar(share) {
  const width = Math.min(100, Math.max(0, share * 100))
  const end = share > 1 ? `<rect x="${CUT + 1}" width="${99 - CUT}" height="8"/>` : ''
  return `<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(share > 1 ? CUT : width).toFixed(1)}" height="8"/>${end}</svg>`
}

/** The number of a cell, or the first of several, such as "28.3 / 29.0". */
function numberOf(cell) {
  const [first] = Array.isArray(cell) ? cell : String(cell).split(' / ')
  const number = Number(String(first).replaceAll(',', ''))
  if (!Number.isFinite(number)) throw new Error(`bench/results: ${cell} is not a figure of a chart`)
  return number
}

function columnOf({ title, columns }, name) {
  const at = columns.indexOf(name)
  if (at < 0) throw new Error(`bench/results: "${title}" has no column "${name}"`)
  return at
}

function html(text) {
  return text.replace(/[&<>{}"]/g, (sign) => `&#${sign.codePointAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>')
}
