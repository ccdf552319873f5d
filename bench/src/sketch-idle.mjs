let last

/** What the loop costs, and the making of a key: it is taken off every other contender. */
export const idle = {
  name: 'noop (the loop)',
  noop: true,
  open: () => ({
    add: (key) => {
      last = key
    },
    last: () => last,
  }),
}
