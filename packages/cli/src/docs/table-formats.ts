import { HTML_STYLE } from '../report/html-style.ts'
import { escapedHtml } from '../report/safe-text.ts'
import { safeText } from '../terminal/safe-text.ts'
import { tableLines } from '../terminal/text-table.ts'
import type { LimitTable } from './limit-table.ts'

export type TableFormat = 'markdown' | 'html' | 'text'

/** A text of the policy file. */
const QUOTED = /`([^`]*)`/g

/** Returns the table in a format, with a line break at its end. */
export function tableIn(format: TableFormat, table: LimitTable): string {
  if (format === 'html') return htmlPage(table)
  return format === 'markdown' ? markdown(table) : text(table)
}

function markdown({ columns, rows, notes }: LimitTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const body = rows.map((cells) => line(cells.map(markdownText)))
  const table = [line(columns), line(columns.map(() => '---')), ...body]
  return [...table, ...notes.flatMap((note) => ['', markdownText(note)]), ''].join('\n')
}

/** Returns a cell in which nothing of the file is markup. */
function markdownText(cell: string): string {
  return safeText(cell).replaceAll('|', '\\|')
}

function text({ columns, rows, notes }: LimitTable): string {
  const plain = (cell: string): string => safeText(cell).replace(QUOTED, '$1')
  const lines = tableLines(
    columns.map((label) => ({ label: label.toUpperCase() })),
    rows.map((cells) => cells.map(plain)),
  )
  return `${[...lines, ...notes.flatMap((note) => ['', plain(note)])].join('\n')}\n`
}

function htmlPage({ columns, rows, notes }: LimitTable): string {
  const cell = (value: string): string => `<td>${escapedHtml(value).replace(QUOTED, '<code>$1</code>')}</td>`
  const paragraph = (note: string): string => `<p>${escapedHtml(note).replace(QUOTED, '<code>$1</code>')}</p>\n`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Rate limits</title>
<style>${HTML_STYLE}
th, td { text-align: left; white-space: normal; vertical-align: top; }
</style>
</head>
<body>
<h1>Rate limits</h1>
<div class="scroll" role="region" aria-label="Rate limits" tabindex="0">
<table>
<thead><tr>${columns.map((label) => `<th scope="col">${label}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`).join('\n')}
</tbody>
</table>
</div>
${notes.map(paragraph).join('')}</body>
</html>
`
}
