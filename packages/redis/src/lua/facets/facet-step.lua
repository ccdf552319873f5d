-- End of the constructor of a policy that adds cells to another policy: returns its functions as a step (a compiled
-- policy).

return {
  capacity = capacity, cells = inner.cells, layout = inner.layout, facets = withFacet(name, count, inner.facets),
  waitMs = waitMs, spend = spend, adjust = adjust, remaining = remaining, left = left, used = used, resetAfterMs = resetAfterMs,
  keptMs = keptMs, numbersOf = numbersOf, adopt = adopt,
  held = heldNow, heldOf = heldOf, endsAt = endsAt, hold = hold, release = release, pass = pass, book = book,
}
