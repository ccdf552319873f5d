import { type Child, element } from './elements.ts'

export interface Column {
  readonly label: string
  readonly isNumber?: boolean
}

/** A table under a heading, which scrolls by itself where it is too wide. `none` stands where there is no row. */
export function section(heading: string, ...children: readonly Child[]): HTMLElement {
  const id = `section-${heading.toLowerCase().replace(/\W+/g, '-')}`
  return element('section', { class: 'panel', 'aria-labelledby': id }, element('h2', { id }, heading), ...children)
}

export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  none: string,
): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'empty' }, none)
  const heads = columns.map((column) => element('th', { scope: 'col', class: classOf(column) }, column.label))
  const lines = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell, index) => element('td', { class: classOf(columns[index]) }, cell))),
  )
  const body = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...lines))
  return element('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' }, body)
}

function classOf({ isNumber }: Column): string | undefined {
  return isNumber ? 'number' : undefined
}
