import { afterEach, expect, test } from '@jest/globals'
import type { InsightSnapshot } from '@sluice/insight'
import { ask } from '../insight/page/page-request.ts'
import { eventually } from '../services/eventually.ts'
import { ExampleProcess } from './example-process.ts'

const started: ExampleProcess[] = []
afterEach(async () => {
  for (const example of started.splice(0)) await example.kill()
})

function start(...args: string[]): ExampleProcess {
  const example = new ExampleProcess('overload', {}, args)
  started.push(example)
  return example
}

interface Row {
  readonly sent: number
  readonly answered: number
  readonly refused: number
  readonly late: number
}

/** Parses the printed outcomes of a phase by priority. */
function rowsOf(output: string, phase: string): Readonly<Record<string, Row>> {
  const [, text = ''] = new RegExp(`^${phase}:.*\\n((?: .*\\n)+)`, 'm').exec(output) ?? []
  const rows = [...text.matchAll(/^ {2}(\w+) +(\d+) +(\d+) +(\d+) +(\d+)/gm)]
  return Object.fromEntries(
    rows.map(([, name, ...cells]) => {
      const [sent, answered, refused, late] = cells.map(Number)
      return [name, { sent, answered, refused, late }]
    }),
  )
}

async function played(example: ExampleProcess, phase: string): Promise<string> {
  const isOver = new RegExp(`${phase}:(?:.*\\n)+\\n`)
  await eventually(async () => isOver.test(example.output), {
    what: `the end of the phase ${phase}`,
    timeoutMs: 90_000,
  })
  return example.output
}

test('while the database is slow, the shop refuses the least important requests and answers the most important', async () => {
  const example = start('--seconds', '4')
  const { port } = new URL(await example.url())
  const isShown = async (): Promise<boolean> => {
    const { text } = await ask(Number(port), '/limits/stream')
    const { caps, timeline } = JSON.parse(text.split('data: ')[1]) as InsightSnapshot
    const denied = timeline.series.filter(({ measure }) => measure === 'denied').map(({ priority }) => priority)
    return caps[0]?.name === 'shop' && caps[0].limit > 0 && denied.includes('sheddable')
  }
  await eventually(isShown, { what: 'denied requests on the live page', timeoutMs: 60_000 })
  const output = await played(example, 'Ten times the load')
  const calm = rowsOf(output, 'Calm')
  const slow = rowsOf(output, 'Slow database')
  expect(Object.keys(calm)).toEqual(['critical', 'high', 'normal', 'low', 'sheddable'])
  for (const { sent, answered, refused, late } of [...Object.values(calm), ...Object.values(slow)]) {
    expect(answered + refused + late).toBe(sent)
  }
  const share = ({ answered, sent }: Row): number => answered / sent
  // a phase has a dozen critical requests, and a busy machine answers fewer of all
  expect(share(slow.critical)).toBeGreaterThan(share(slow.sheddable) + 0.25)
  expect(slow.sheddable.refused / slow.sheddable.sent).toBeGreaterThan(0.6)
  const flood = rowsOf(output, 'Ten times the load')
  expect(share(flood.critical)).toBeGreaterThan(share(flood.sheddable))
  expect(await example.end()).toBe(0)
  expect(output).not.toContain('Warning')
}, 180_000)

test('without protection, the shop refuses nothing, and clients leave before they are answered', async () => {
  const example = start('--seconds', '2', '--unprotected', '--once')
  const output = await played(example, 'Slow database')
  const slow = rowsOf(output, 'Slow database')
  const sum = (of: keyof Row): number => Object.values(slow).reduce((total, row) => total + row[of], 0)
  expect(sum('refused')).toBe(0)
  expect(sum('late')).toBeGreaterThan(sum('sent') / 2)
}, 120_000)
