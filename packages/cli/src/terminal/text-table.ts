import Table from 'cli-table3'

const NO_BORDERS = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
}

export interface Column {
  readonly label: string
  readonly isNumber?: boolean
}

/** Returns the lines of a table without borders. Cells may contain colours. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    chars: NO_BORDERS,
    head: columns.map(({ label }) => label),
    colAligns: columns.map(({ isNumber }) => (isNumber ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((cells) => [...cells]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
}
