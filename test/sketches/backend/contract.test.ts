import { describe, expect, test } from '@jest/globals'
import { sketchBackend } from '@sluice/sketches/limits'
import { backendContract } from '@sluice/testkit'

// wide enough that no two of the contract's keys meet
describe.each([16, 32] as const)('sketchBackend, cells of %d bits', (cells) =>
  backendContract({ describe, test }, (clock) => sketchBackend({ clock, cells }), {
    // the windows of all keys begin together: `grid-model.test.ts` has the model of that
    ownModels: true,
    // without a history there is one window
    oneWindow: true,
    except: {
      'takes over what a caller knows of a key where it knows less itself':
        'units lie in slots that all keys share, so what another backend knew lasts until its slot has left, not for the ms that are told: `known.test.ts`',
    },
  }),
)

test('an exception from a claim that the contract has not is a mistake', () => {
  const runner = { describe: () => {}, test: () => {} }
  expect(() => backendContract(runner, () => sketchBackend(), { except: { 'flies to the moon': 'no fuel' } })).toThrow(
    RangeError,
  )
})
