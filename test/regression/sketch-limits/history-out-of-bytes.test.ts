import { expect, test } from '@jest/globals'
import { sketchBackend } from '@sluice/sketches/limits'

// regression: the message had the total bytes, not the missing ones
test('a history that does not fit into its bytes reports how many more it needs', () => {
  const history = { unit: '1s', keep: '30d', blocksPerLevel: 64 } as const
  let missing = 0
  try {
    sketchBackend({ bytes: 2 ** 20, history })
  } catch (error) {
    missing = Number(/SLUICE_BAD_OPTION: bytes: expected (\d+) more/.exec((error as Error).message)?.[1])
  }
  expect(missing).toBeGreaterThan(2)
  expect(() => sketchBackend({ bytes: 2 ** 20 + missing - 2, history })).toThrow(/SLUICE_BAD_OPTION/)
  expect(() => sketchBackend({ bytes: 2 ** 20 + missing, history })).not.toThrow()
})

// regression: the message had the name of an option of another class
test('a history with more units than it can count names its own option', () => {
  const build = () => sketchBackend({ history: { unit: '1ms', keep: '365d' } })
  expect(build).toThrow(
    /SLUICE_BAD_OPTION: history: keep, in units: expected an integer from 1 to 4294967295, received 31536000000/,
  )
})
