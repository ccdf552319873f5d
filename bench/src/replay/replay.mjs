import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./replay-cell.mjs', import.meta.url)
const logs = [
  { title: 'Combined, three policies', format: 'combined', policies: 3 },
  { title: 'Combined, one policy', format: 'combined', policies: 1 },
  { title: 'Combined in gzip, three policies', format: 'gzip', policies: 3 },
  { title: 'JSON, three policies', format: 'json', policies: 3 },
]

export async function run({ smoke = false, rounds = 3, progress = () => {} } = {}) {
  const lines = smoke ? 20_000 : 1_000_000
  const results = logs.map(() => [])
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    for (const [index, { title, format, policies }] of logs.entries()) {
      progress(`replay: ${title}`)
      results[index].push(await runChild(cell, { format, policies, lines }))
    }
  }
  const cpuUs = results.map((rows) => median(rows.map((row) => row.cpuUs)))
  return [
    {
      title: 'Replay of an access log',
      columns: ['log', 'lines', 'MB', 'CPU µs a line', 'lines a second of CPU', 'lines a second', 'MiB of memory'],
      rows: logs.map(({ title }, index) => {
        const of = (name) => median(results[index].map((row) => row[name]))
        return [title, lines, of('bytes') / 1e6, cpuUs[index], 1e6 / cpuUs[index], of('perSecond'), of('rssMiB')]
      }),
      notes: [
        '`replayCommand` with `--json`, from the first byte to the report. 100,000 clients, 1,000 requests a second. CPU time includes all threads; the start of Node is not included.',
      ],
    },
    {
      title: 'Replay targets',
      columns: targetColumns,
      rows: [targetRow('Combined, three policies: CPU µs a line (300,000 lines a second of one core)', cpuUs[0], 3.34)],
      notes: [],
    },
  ]
}
