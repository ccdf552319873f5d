const entries = require('./entries.cjs')

test.each(entries)('%s loads', (entry) => {
  expect(Object.keys(require(entry))).not.toEqual([])
})
