import { htmlPage } from '../report/html-page.ts'
import { escapedHtml } from '../report/safe-text.ts'
import { safeText } from '../terminal/safe-text.ts'
import { tableLines } from '../terminal/text-table.ts'
import type { LimitTable } from './limit-table.ts'

export type TableFormat = 'markdown' | 'html' | 'text'

/** A text of the policy file. */
const QUOTED = /`([^`]*)`/g

/** Returns the table in a format, with a line break at its end. */
export function tableIn(format: TableFormat, table: LimitTable): string {
  if (format === 'html') return html(table)
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

function html({ columns, rows, notes }: LimitTable): string {
  const marked = (value: string): string => escapedHtml(value).replace(QUOTED, '<code>$1</code>')
  const head = columns.map((label) => `<th scope="col">${label}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${marked(cell)}</td>`).join('')}</tr>`)
  const parts = [
    '<div class="scroll" role="region" aria-label="Rate limits" tabindex="0">',
    `<table>\n<thead><tr>${head}</tr></thead>`,
    `<tbody>\n${body.join('\n')}\n</tbody>\n</table>\n</div>`,
    ...notes.map((note) => `<p>${marked(note)}</p>`),
  ]
  return htmlPage(
    'Rate limits',
    parts.join('\n'),
    'th, td { text-align: left; white-space: normal; vertical-align: top; }\n',
  )
}
