-- End of a constructor of `exact-reader`: returns the functions of the preceding algorithm as a step (a compiled
-- policy).

return {
  capacity = capacity, cells = cells, layout = layout, waitMs = waitMs, spend = spend, adjust = adjust,
  remaining = remaining, resetAfterMs = resetAfterMs, keptMs = resetAfterMs, numbersOf = numbersOf, adopt = adopt,
  native = native, writesNative = writesNative,
}
