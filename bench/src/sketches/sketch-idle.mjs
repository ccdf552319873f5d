let last

/** Cost of the loop and of creating a key, which is subtracted from every other contender. */
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
