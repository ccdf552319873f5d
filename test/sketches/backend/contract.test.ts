import { describe, expect, test } from '@jest/globals'
import { sketchBackend } from '@sluice/sketches/limits'
import { backendContract } from '@sluice/testkit'

// wide enough that no two keys of the contract collide
describe.each([16, 32] as const)('sketchBackend, cells of %d bits', (cells) =>
  backendContract({ describe, test }, (clock) => sketchBackend({ clock, cells }), {
    // the windows of all keys begin together: `grid-model.test.ts` models this
    ownModels: true,
    // without a history, every policy has the same window
    oneWindow: true,
    except: {
      'adopts the usage of a key reported by a caller if its own count is lower':
        'all keys share their slots, so known usage from the caller lasts until its slot expires, which can be longer than the reported ms: `adjusting.test.ts`',
    },
  }),
)

test('an exception for a claim that does not exist is an error', () => {
  const runner = { describe: () => {}, test: () => {} }
  expect(() => backendContract(runner, () => sketchBackend(), { except: { 'flies to the moon': 'no fuel' } })).toThrow(
    RangeError,
  )
})
