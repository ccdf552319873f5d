import { type Child, element } from '../dom/elements.ts'

export interface Column {
  readonly label: string
  readonly isNumber?: boolean
}

/** Returns a panel with a heading. */
export function section(heading: string, ...children: readonly Child[]): HTMLElement {
  const id = `section-${heading.toLowerCase().replace(/\W+/g, '-')}`
  return element('section', { class: 'panel', 'aria-labelledby': id }, element('h2', { id }, heading), ...children)
}

/**
 * Returns a table, or the text `none` if there are no rows. It scrolls horizontally if it is too wide. On phones,
 * tables with more than three columns (or `isStacked`) show each row as a block.
 */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  none: string,
  isStacked: boolean = columns.length > 3,
): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'empty' }, none)
  // a table displayed as blocks loses its semantics without explicit roles
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
