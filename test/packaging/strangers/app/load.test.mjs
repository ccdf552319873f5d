import entries from './entries.cjs'

test.each(entries)('%s loads', async (entry) => {
  expect(Object.keys(await import(entry))).not.toEqual([])
})
