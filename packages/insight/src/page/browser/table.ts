import { type Child, element } from './elements.ts'

export interface Column {
  readonly label: string
  readonly isNumber?: boolean
}

/**
 * A section with a heading and a table, which scrolls horizontally if it is too wide. `none` is shown if there are no
 * rows.
 */
export function section(heading: string, ...children: readonly Child[]): HTMLElement {
  const id = `section-${heading.toLowerCase().replace(/\W+/g, '-')}`
  return element('section', { class: 'panel', 'aria-labelledby': id }, element('h2', { id }, heading), ...children)
}

/** On a phone a table of more than three columns, or one that `isStacked`, has a block for each row. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  none: string,
  isStacked: boolean = columns.length > 3,
): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'empty' }, none)
  // a table that is shown as blocks is one by its roles alone
  const heads = columns.map((column) =>
    element('th', { scope: 'col', role: 'columnheader', class: classOf(column) }, column.label),
  )
  const lines = rows.map((cells) => {
    const made = cells.map((cell, index) => cellOf(columns[index], cell))
    return element('tr', { role: 'row' }, ...made)
  })
  const head = element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads))
  const body = element('table', { role: 'table' }, head, element('tbody', { role: 'rowgroup' }, ...lines))
  const kind = isStacked ? 'scroll stacked' : 'scroll'
  return element('div', { class: kind, role: 'region', 'aria-label': label, tabindex: '0' }, body)
}

function cellOf(column: Column, content: Child): HTMLElement {
  return element('td', { role: 'cell', class: classOf(column), 'data-label': column.label }, content)
}

function classOf({ isNumber }: Column): string | undefined {
  return isNumber ? 'number' : undefined
}
